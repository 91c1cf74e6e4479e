/** What a form says of one file. */
export interface TypedFile {
  readonly path: string
  readonly sections: Readonly<Record<string, string>>
  /** Whether the whole text counts. */
  readonly isWhole: boolean
  readonly text: string
}

/** The files of a form as they were filled in: `files[0][path]`, `files[0][sections][id]`, `files[0][content]`. */
export function typedFiles(fields: Readonly<Record<string, unknown>>): TypedFile[] {
  return Object.values(hashOf(fields.files)).map((given) => {
    const file = hashOf(given)
    const sections = Object.entries(hashOf(file.sections)).map(([id, side]) => [id, textOf(side)])
    // Text areas send CR LF for every line break: the file keeps those that it had.
    const plain = textOf(file.content).replaceAll('\r\n', '\n')
    return {
      path: textOf(file.path),
      sections: Object.fromEntries(sections),
      isWhole: file.whole === 'true',
      text: file.newlines === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain,
    }
  })
}

/** The same as the endpoint takes them. */
export function filesOf(fields: Readonly<Record<string, unknown>>) {
  return typedFiles(fields).map(({ path, isWhole, text, sections }) =>
    isWhole ? { path, content: text } : { path, sections },
  )
}

function hashOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
