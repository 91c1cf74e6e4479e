declare module 'markdown-it-emoji/lib/data/full.mjs' {
  const characters: Readonly<Record<string, string>>
  export default characters
}
