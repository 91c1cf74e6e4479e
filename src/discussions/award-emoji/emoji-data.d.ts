declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const characters: Readonly<Record<string, string>>
  // biome-ignore lint/style/noDefaultExport: so the library has it
  export default characters
}
