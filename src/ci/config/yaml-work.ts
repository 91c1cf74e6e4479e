import {
  isMap as isYamlMap,
  LineCounter,
  parseAllDocuments,
  Scalar,
  stringify,
  type Tags,
  type YAMLSeq,
} from 'yaml'
import { Problem } from '../../base/problem.ts'
import { workerTask } from '../../base/workers/worker-task.ts'
import { isShallow } from '../../base/yaml/is-shallow.ts'
import { configFault, TOO_LARGE } from './fault.ts'
import {
  charactersOf,
  isMap,
  MOST_CHARACTERS,
  MOST_NODES,
  makeReference,
  type Value,
} from './values.ts'

/**
 * What is done with the texts of configurations. All of it takes seconds for the largest that are taken, and minutes for
 * some that are made for that, so that large ones are worked on in a worker with a time limit (yaml.ts).
 */
export interface YamlWork {
  parse(input: { readonly text: string; readonly maxDepth: number }): ParsedConfig
  place(input: { readonly text: string; readonly path: readonly string[] }): string | undefined
  write(input: { readonly value: Value }): string
}

/** The documents of a file. */
export interface ParsedConfig {
  readonly values: readonly Value[]
  /** What they take in memory, roughly, in bytes. */
  readonly bytes: number
}

/** An error's class does not survive the way back from a worker. */
export type YamlWorkResult<T> = { readonly value: T } | { readonly failure: string }

function limited<Input, Output>(act: (input: Input) => Output) {
  return workerTask((input: Input): YamlWorkResult<Output> => {
    try {
      return { value: act(input) }
    } catch (error) {
      if (error instanceof Problem) return { failure: (error.fields?.base ?? []).join(', ') }
      throw error
    }
  })
}

export const yamlWork: YamlWork = {
  parse({ text, maxDepth }) {
    const values = parseDocuments(text)
    return { values, bytes: sizeOf(values, maxDepth) }
  },
  place: ({ text, path }) => placeOfKey(text, path),
  write: ({ value }) => stringify(value),
}

export const parse = limited(yamlWork.parse)
export const place = limited(yamlWork.place)
export const write = limited(yamlWork.write)

const MOST_ALIASES = 10_000

// Times are texts to everybody who writes them; dates too.
const LEFT_OUT = new Set([
  'tag:yaml.org,2002:timestamp',
  'tag:yaml.org,2002:binary',
  'tag:yaml.org,2002:omap',
  'tag:yaml.org,2002:pairs',
  'tag:yaml.org,2002:set',
])

const referenceTag = {
  tag: '!reference',
  collection: 'seq' as const,
  resolve: (list: unknown) =>
    new Scalar(makeReference((list as YAMLSeq).items.map((item) => String(textOf(item))))),
}

/** `:script` is the key `script`: the reference's YAML takes a leading colon for that of a symbol, and some files have one. */
const symbolKeyTag = {
  tag: 'tag:yaml.org,2002:symbol',
  default: 'key' as const,
  test: /^:[A-Za-z_]\w*$/,
  resolve: (text: string) => text.slice(1),
}

function textOf(item: unknown): unknown {
  return item instanceof Scalar ? item.value : item
}

const FLOAT = 'tag:yaml.org,2002:float'

function tagsOf(tags: Tags): Tags {
  const kept = tags.filter((tag) => {
    if (typeof tag === 'string') return true
    const format = 'format' in tag ? tag.format : undefined
    // What is left of the floats are those with a point.
    const isOtherFloat = tag.tag === FLOAT && (format === 'EXP' || isMatching(tag, '.inf'))
    return !(LEFT_OUT.has(tag.tag) || format === 'TIME' || isOtherFloat)
  })
  return [...kept.map(asReference), symbolKeyTag, referenceTag]
}

function isMatching(tag: Tags[number], text: string): boolean {
  return typeof tag !== 'string' && 'test' in tag && tag.test?.test(text) === true
}

/**
 * Plain words as in the reference's YAML: `y` and `n` are letters, `yes`, `on` and so on are true and false. Numbers are
 * those that can be written back as they were: `3.10`, `08`, `12e4567` and an id of 19 digits are texts.
 */
function asReference(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || 'format' in tag || !('test' in tag)) return tag
  const withTest = (test: RegExp) => ({ ...tag, test }) as Tags[number]
  if (tag.tag === 'tag:yaml.org,2002:int') return withTest(/^[-+]?(?:0|[1-9][0-9_]{0,14})$/)
  if (tag.tag === FLOAT) return withTest(/^[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*[1-9]$/)
  if (tag.tag !== 'tag:yaml.org,2002:bool' || !tag.test) return tag
  return withTest(new RegExp(tag.test.source.replace(/(?:Y\|y|N\|n)\|/, '')))
}

function parseDocuments(text: string): Value[] {
  if (!isShallow(text)) throw configFault(TOO_LARGE)
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    prettyErrors: true,
    customTags: tagsOf,
  })
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error) throw configFault(`Invalid configuration format: ${firstLine(error.message)}`)
    try {
      return document.toJS({ maxAliasCount: MOST_ALIASES }) as Value
    } catch (error) {
      const reason = error instanceof Error ? firstLine(error.message) : 'it cannot be read'
      throw configFault(`Invalid configuration format: ${reason}`)
    }
  })
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/:$/, '')
}

/** What a value takes beside its text. */
const bytesOfNode = 100

/**
 * What the documents of a file take in memory; refuses what is too much, and what lies too deep. Aliases make small texts
 * into huge values: what is walked and copied later must have an end.
 */
export function sizeOf(values: readonly Value[], maxDepth: number): number {
  let nodes = 0
  let characters = 0
  const visit = (part: Value, depth: number): void => {
    nodes += 1
    characters += charactersOf(part)
    if (nodes > MOST_NODES || characters > MOST_CHARACTERS || depth > maxDepth) {
      throw configFault(TOO_LARGE)
    }
    if (Array.isArray(part)) for (const item of part) visit(item, depth + 1)
    else if (isMap(part)) for (const item of Object.values(part)) visit(item, depth + 1)
  }
  for (const value of values) visit(value, 0)
  return nodes * bytesOfNode + characters
}

/** Where a key stands in a file, as `line 3, column 5`; undefined when it came from elsewhere. */
function placeOfKey(text: string, path: readonly string[]): string | undefined {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, { version: '1.1', customTags: tagsOf, lineCounter })
  if (!Array.isArray(documents)) return undefined
  for (const document of documents) {
    let node: unknown = document.contents
    let offset: number | undefined
    for (const name of path) {
      const items = isYamlMap(node) ? node.items : []
      const pair = items.find(({ key }) => String(textOf(key)) === name)
      offset = pair?.key instanceof Scalar ? pair.key.range?.[0] : undefined
      node = pair?.value
    }
    if (offset === undefined) continue
    const { line, col } = lineCounter.linePos(offset)
    return `line ${line}, column ${col}`
  }
  return undefined
}
