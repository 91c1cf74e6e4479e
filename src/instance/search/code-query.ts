/** A search for code: what the lines contain, and where the files are. */
export interface CodeQuery {
  readonly text: string
  /** Patterns of paths, any of which will do. */
  readonly paths: readonly string[]
}

const WORD = /(?:^|\s)(filename|path|extension):(\S+)/g

/** Takes `filename:`, `path:` and `extension:` out of a search (docs/contract/D §1.27). */
export function parseCodeQuery(search: string): CodeQuery {
  const paths: string[] = []
  for (const [, kind, value = ''] of search.matchAll(WORD)) {
    const plain = value.replaceAll(/[?[\]\\]/g, String.raw`\$&`)
    if (kind === 'filename') paths.push(`**/${plain}`)
    if (kind === 'extension') paths.push(`**/*.${plain.replace(/^\./, '')}`)
    if (kind === 'path') paths.push(`**/${plain.replace(/^\/|\/$/g, '')}/**`, `**/*${plain}*`)
  }
  return { text: search.replaceAll(WORD, ' ').trim(), paths }
}
