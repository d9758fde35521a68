"use strict";
const find = document.getElementById("find");
const count = document.getElementById("count");
const index = document.getElementById("index");
const sections = [...document.querySelectorAll("section")];
let current = null;

function shown(selector) {
  return [...document.querySelectorAll(selector)].filter((item) => !item.closest("[hidden]"));
}

function show(item) {
  if (!item) return;
  current = item;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "start" });
}

function step(selector, by) {
  const items = shown(selector);
  const at = items.indexOf(current && current.closest(selector));
  if (at >= 0 || !current) {
    show(at >= 0 ? items[at + by] : items.at(by > 0 ? 0 : -1));
    return;
  }
  const follows = (item) => current.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING;
  show(by > 0 ? items.find(follows) : items.findLast((item) => !follows(item)));
}

function search() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (item) => {
    const text = item.textContent.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  let found = 0;
  for (const section of sections) {
    let any = false;
    for (const item of section.querySelectorAll("article")) {
      item.hidden = !has(item);
      any = any || !item.hidden;
      found += !item.hidden;
      for (const details of item.querySelectorAll("details")) details.open = words.length > 0 && has(details);
    }
    section.hidden = words.length > 0 && !any && !has(section);
    const entry = document.getElementById("to-" + section.id);
    if (entry) entry.hidden = section.hidden;
  }
  count.textContent = words.length ? found + (found === 1 ? " turn" : " turns") : "";
  if (current && current.closest("[hidden]")) current = null;
}

const keys = {
  j: () => step("article", 1),
  k: () => step("article", -1),
  n: () => step("section", 1),
  p: () => step("section", -1),
  o: () => {
    const folds = current ? [...current.querySelectorAll("details")] : [];
    const open = folds.some((item) => !item.open);
    for (const item of folds) item.open = open;
  },
  "/": () => { find.focus(); find.select(); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === find) {
    if (event.key === "Escape") { find.value = ""; search(); }
    if (event.key === "Escape" || event.key === "Enter") { find.blur(); if (event.key === "Enter") step("article", 1); }
    return;
  }
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
document.addEventListener("focusin", (event) => {
  const item = event.target.closest && event.target.closest("article, section");
  if (item) current = item;
});
find.addEventListener("input", search);
if (index && matchMedia("(min-width: 64rem)").matches) index.open = true;
search();
