// The FerryManifest target; see docs/architecture.md.
