// Reads [[kind, messages], ...] from stdin, and writes what the AI SDK's own validators say of each: "" or an error.
import { readFileSync } from "node:fs";
import { modelMessageSchema, safeValidateUIMessages } from "ai";

const found = [];
for (const [kind, messages] of JSON.parse(readFileSync(0, "utf-8"))) {
  if (kind === "vercel-ui") {
    const { success, error } = await safeValidateUIMessages({ messages });
    found.push(success ? "" : String(error));
  } else {
    const refused = messages.map((message) => modelMessageSchema.safeParse(message)).filter((read) => !read.success);
    found.push(refused.length ? String(refused[0].error) : "");
  }
}
console.log(JSON.stringify(found));
