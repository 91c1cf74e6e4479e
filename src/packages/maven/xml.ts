import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser'
import { badRequest } from '../../base/problem.ts'
import { isSafeXml } from '../registry/safe-xml.ts'

export type Xml = Readonly<Record<string, unknown>>

/** Lists, also where they hold one. */
const LISTS = ['metadata.versioning.versions.version', 'metadata.plugins.plugin']

const parser = new XMLParser({
  processEntities: false,
  ignoreAttributes: true,
  parseTagValue: false,
  isArray: (_name, path) => LISTS.includes(String(path)),
})
// Texts were read as they stand, entities and all, and are written so.
const builder = new XMLBuilder({ format: true, processEntities: false })

/** Reads a file of Maven's. Entities are never resolved, and a document type, which none of its files has, is refused. */
export function readXml(text: string, what: string): Xml {
  const refusal = badRequest(`${what} is no valid XML`)
  if (!isSafeXml(text)) throw refusal
  try {
    if (XMLValidator.validate(text) !== true) throw refusal
    const read: unknown = parser.parse(text)
    return objectOf(read)
  } catch {
    // Also what is nested too deeply for the parser.
    throw refusal
  }
}

export function writeXml(value: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(value)}`
}

export function objectOf(value: unknown): Xml {
  return typeof value === 'object' && value !== null ? (value as Xml) : {}
}
