/** JSON text that stands for a value. */
class ReadyJson {
  readonly json: string | Buffer
  constructor(json: string | Buffer) {
    this.json = json
  }

  /** Inside another value it is read again, as if it had been that value. */
  toJSON(): unknown {
    return JSON.parse(this.json.toString())
  }
}

/**
 * A part of an answer whose JSON text is already known, such as an item of a list, or a whole list: it goes to the wire
 * as it is. For hot lists of large items, or very long ones, only; everything else gives plain data.
 */
export function ready<T>(json: string | Buffer): T {
  // The pipeline and JSON.stringify are all that ever look at it, and both take the text.
  return new ReadyJson(json) as unknown as T
}

/** The JSON text of an answer. */
export function jsonOf(value: unknown): string | Buffer {
  if (value instanceof ReadyJson) return value.json
  if (!Array.isArray(value) || !(value[0] instanceof ReadyJson)) return JSON.stringify(value)
  if (Buffer.isBuffer(value[0].json)) return listOf(value)
  return `[${value.map(jsonOf).join(',')}]`
}

const [open, comma, close] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]

/** Bytes are only copied: to join texts and encode the whole takes several times as long. */
function listOf(items: readonly unknown[]): Buffer {
  const parts: Buffer[] = []
  for (const item of items) {
    const json = jsonOf(item)
    parts.push(parts.length === 0 ? open : comma, Buffer.isBuffer(json) ? json : Buffer.from(json))
  }
  return Buffer.concat([...parts, close])
}
