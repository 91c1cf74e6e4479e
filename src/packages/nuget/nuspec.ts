import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { badRequest } from '../../base/problem.ts'
import { isSafeXml } from '../registry/safe-xml.ts'

type Xml = Readonly<Record<string, unknown>>

export interface Dependency {
  readonly id: string
  readonly range: string
}

export interface DependencyGroup {
  /** Empty where it is for every framework. */
  readonly framework: string
  readonly dependencies: readonly Dependency[]
}

/** What a package says about itself, as lists and search results show it. */
export interface NugetMetadata {
  readonly title: string
  readonly authors: string
  readonly description: string
  readonly summary: string
  readonly tags: string
  readonly projectUrl: string
  readonly licenseUrl: string
  readonly iconUrl: string
  readonly groups: readonly DependencyGroup[]
}

export interface Nuspec {
  readonly id: string
  readonly version: string
  readonly metadata: NugetMetadata
}

/** Characters that no XML may have: the feed with them could be read by nobody. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const NO_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/
const MOST_GROUPS = 100
const MOST_DEPENDENCIES = 1000

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  isArray: (name) => name === 'dependency' || name === 'group',
})

/** Reads a .nuspec. A document type, which it never has, is refused, so that no entity is ever resolved. */
export function readNuspec(text: string): Nuspec {
  const metadata = objectOf(objectOf(parse(text.replace(/^\uFEFF/, '')).package).metadata)
  const field = (name: string, most = 4000) => textOf(metadata[name]).slice(0, most)
  return {
    id: field('id', 255),
    version: field('version', 255),
    metadata: {
      title: field('title', 255),
      authors: field('authors', 255),
      description: field('description'),
      summary: field('summary'),
      tags: field('tags', 1000),
      projectUrl: addressOf(field('projectUrl', 1000)),
      licenseUrl: addressOf(field('licenseUrl', 1000)),
      iconUrl: addressOf(field('iconUrl', 1000)),
      groups: groupsOf(objectOf(metadata.dependencies)),
    },
  }
}

function parse(text: string): Xml {
  const refusal = badRequest('The nuspec is no valid XML')
  if (!isSafeXml(text) || NO_XML.test(text)) throw refusal
  try {
    if (XMLValidator.validate(text) !== true) throw refusal
    return objectOf(parser.parse(text))
  } catch {
    // Also what is nested too deeply for the parser.
    throw refusal
  }
}

function groupsOf(dependencies: Xml): DependencyGroup[] {
  const groups = listOf(dependencies.group).map((group) => ({
    framework: textOf(group['@targetFramework']).slice(0, 255),
    dependencies: dependenciesOf(group.dependency),
  }))
  const plain = dependenciesOf(dependencies.dependency)
  const all = plain.length > 0 ? [{ framework: '', dependencies: plain }, ...groups] : groups
  const count = all.reduce((sum, group) => sum + group.dependencies.length, 0)
  if (all.length > MOST_GROUPS || count > MOST_DEPENDENCIES) {
    throw badRequest('The nuspec has too many dependencies')
  }
  return all
}

function dependenciesOf(value: unknown): Dependency[] {
  return listOf(value).map((one) => ({
    id: textOf(one['@id']).slice(0, 255),
    range: textOf(one['@version']).slice(0, 255),
  }))
}

function listOf(value: unknown): Xml[] {
  return (Array.isArray(value) ? value : []).map(objectOf)
}

function objectOf(value: unknown): Xml {
  return typeof value === 'object' && value !== null ? (value as Xml) : {}
}

/** Elements with attributes hold their text beside them. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  const inner = objectOf(value)['#text']
  return typeof inner === 'string' ? inner.trim() : ''
}

/** Programs open these. */
function addressOf(text: string): string {
  return /^https?:\/\//i.test(text) ? text : ''
}
