"""One file per wire format; each exposes `DIALECT`, found and imported on first lookup."""
