import { parseDocument } from 'yaml'
import { isShallow } from '../../base/yaml/is-shallow.ts'
import { ChangelogFailure } from './failure.ts'
import { defaultTagPattern } from './version.ts'

/** What a changelog configuration file says (docs/contract/B-resolved §1.8, "Config keys"). */
export interface ChangelogConfig {
  /** strftime pattern of the section's date. */
  readonly dateFormat: string
  /** Source in the template language; undefined for the default section. */
  readonly template: string | undefined
  /** Trailer value to shown name, in the order of the file. */
  readonly categories: ReadonlyMap<string, string>
  /** RE2 pattern with the groups major, minor, patch, pre and meta. */
  readonly tagPattern: string
  /** Full paths of groups whose members are always credited. */
  readonly includeGroups: readonly string[]
}

/** What holds without a configuration file. */
export const defaultChangelogConfig: ChangelogConfig = {
  dateFormat: '%Y-%m-%d',
  template: undefined,
  categories: new Map(),
  tagPattern: defaultTagPattern,
  includeGroups: [],
}

const largestFile = 512 * 1024
/** Values that aliases may repeat: enough for anchors that people write, far from an alias bomb. */
const mostAliases = 100

function readYaml(text: string, path: string): ReadonlyMap<unknown, unknown> {
  if (text.length > largestFile) {
    throw new ChangelogFailure(`${path} is larger than ${largestFile / 1024} KB`)
  }
  const invalid = new ChangelogFailure(`${path} does not contain valid YAML`)
  if (!isShallow(text)) throw invalid
  try {
    const document = parseDocument(text, { schema: 'core', logLevel: 'silent' })
    // A tag that is unknown, such as `!!js/function`, is only a warning to the parser.
    if (document.errors.length > 0 || document.warnings.length > 0) throw invalid
    const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: mostAliases })
    if (value === null) return new Map()
    if (value instanceof Map) return value
  } catch {
    throw invalid
  }
  throw invalid
}

function readCategories(value: unknown): ReadonlyMap<string, string> {
  if (value === undefined || value === null) return new Map()
  if (!(value instanceof Map)) {
    throw new ChangelogFailure('The "categories" configuration key must be a Hash')
  }
  return new Map([...value].map(([key, shown]) => [String(key), String(shown ?? key)]))
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Reads a changelog configuration file; run it in a worker, for a hostile one takes its time. */
export function parseChangelogConfig(text: string, path: string): ChangelogConfig {
  const keys = readYaml(text, path)
  const groups = keys.get('include_groups')
  return {
    dateFormat: readText(keys.get('date_format')) ?? defaultChangelogConfig.dateFormat,
    template: readText(keys.get('template')),
    categories: readCategories(keys.get('categories')),
    tagPattern: readText(keys.get('tag_regex')) ?? defaultChangelogConfig.tagPattern,
    includeGroups: Array.isArray(groups) ? groups.filter((name) => typeof name === 'string') : [],
  }
}
