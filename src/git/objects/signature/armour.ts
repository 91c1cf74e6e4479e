/** The bytes inside an armoured block; undefined when it is damaged. */
export function dearmour(text: string): Buffer | undefined {
  const lines = text.split(/\r?\n/)
  const end = lines.findIndex((line) => line.startsWith('-----END '))
  if (!lines[0]?.startsWith('-----BEGIN ') || end < 0) return undefined
  const body = lines.slice(1, end)
  // PGP: headers such as `Version: …` end with a blank line; a line with `=` first is a checksum.
  const blank = body.findIndex((line) => line.trim() === '')
  const coded = body.slice(blank + 1).filter((line) => !line.startsWith('='))
  return Buffer.from(coded.join(''), 'base64')
}
