import type { PatternBudget } from '../../base/patterns/budget.ts'
import { globPattern } from '../../base/patterns/glob.ts'
import { Timeslice } from '../../base/timeslice.ts'
import { parseExpression } from './expression.ts'
import { configFault } from './fault.ts'
import { faultOf } from './has-pattern.ts'
import { WHEN } from './job-keys.ts'
import { isMap, type Value, type ValueMap } from './values.ts'
import { expandText, readVariables, type Variables } from './variables.ts'

/** Another project, at a ref of it or at its default branch. */
export interface Elsewhere {
  readonly project: string
  readonly ref: string | undefined
}

/** What conditions of a configuration are about: one ref at one commit, and why a pipeline is wanted. */
export interface Circumstances {
  readonly ref: string
  readonly tag: boolean
  /** `push`, `api`, `schedule` and so on. */
  readonly source: string
  readonly variables: Variables
  /** Names of those that lie over what a configuration says: of the run, the project, its groups and the instance. */
  readonly overriding: Pick<ReadonlySet<string>, 'has'>
  /** What its patterns may take, all together. */
  readonly patterns: PatternBudget
  /** Every file of the commit, or of another project; throws where the caller may not read that one. */
  paths(elsewhere?: Elsewhere): Promise<readonly string[]>
  /** Files that differ from another commit, or from what the push found; undefined: nothing to compare with. */
  changed(compareTo?: string): Promise<readonly string[] | undefined>
}

/** A rule of `rules:` that applies. */
export type Rule = ValueMap

const CONDITIONS = ['if', 'changes', 'exists']
const EXISTS_KEYS = ['paths', 'project', 'ref']

/** What a rule may say, beside its conditions. */
const RULE_KEYS = {
  job: ['when', 'start_in', 'allow_failure', 'variables', 'needs', 'interruptible'],
  workflow: ['when', 'variables', 'auto_cancel'],
  include: ['when'],
} as const

/** The rules of a `rules:` list, nested lists flattened; `where` names it in what is wrong. */
export function readRules(
  value: Value,
  where: string,
  of: keyof typeof RULE_KEYS,
): readonly Rule[] {
  if (!Array.isArray(value)) throw configFault(`${where} config should be an array of hashes`)
  const rules: unknown[] = value.flat(10)
  return rules.map((rule) => {
    if (!isMap(rule)) throw configFault(`${where}:rule config should be a hash`)
    assertRule(rule, `${where}:rule`, [...CONDITIONS, ...RULE_KEYS[of]])
    if (rule.if !== undefined && readCondition(rule.if) === undefined) {
      throw configFault(`${where}:rule if invalid expression syntax`)
    }
    return rule
  })
}

function assertRule(rule: Rule, where: string, known: readonly string[]): void {
  const unknown = Object.keys(rule).filter((key) => !known.includes(key))
  if (unknown.length > 0) {
    throw configFault(`${where} config contains unknown keys: ${unknown.join(', ')}`)
  }
  assertExists(rule.exists, where)
  assertFew(rule.exists, `${where}:exists`)
  assertFew(rule.changes, `${where}:changes`)
  const { when, allow_failure } = rule
  if (when !== undefined && !WHEN.some((word) => word === when)) {
    throw configFault(`${where} when unknown value: ${String(when)}`)
  }
  if (allow_failure !== undefined && typeof allow_failure !== 'boolean') {
    throw configFault(`${where} allow failure should be a boolean value`)
  }
  if (readVariables(rule.variables) === undefined) {
    throw configFault(`${where}:variables config should be a hash of key value pairs`)
  }
}

const MOST_PATTERNS = 50

/** Refuses more patterns than one rule may have: each is compared with every path. */
export function assertFew(value: Value, where: string): void {
  if (textsOf(value).length <= MOST_PATTERNS) return
  throw configFault(`${where} config has too many entries (maximum is ${MOST_PATTERNS})`)
}

function assertExists(exists: Value, where: string): void {
  if (!isMap(exists)) return
  const unknown = Object.keys(exists).filter((key) => !EXISTS_KEYS.includes(key))
  if (unknown.length > 0) {
    throw configFault(`${where}:exists config contains unknown keys: ${unknown.join(', ')}`)
  }
  const { project, ref } = exists
  if (ref !== undefined && project === undefined) {
    throw configFault(`${where}:exists config must have a project where it has a ref`)
  }
  for (const one of [project, ref]) {
    if (one !== undefined && typeof one !== 'string') {
      throw configFault(`${where}:exists project and ref should be strings`)
    }
  }
}

function readCondition(value: Value) {
  return typeof value === 'string' ? parseExpression(value) : undefined
}

/** Others get their turn after so long. */
const SLICE_MS = 20

/** The first rule that applies (docs/contract/D §5.2 rules); undefined when none does. */
export async function firstRule(
  rules: readonly Rule[],
  at: Circumstances,
): Promise<Rule | undefined> {
  const slice = new Timeslice(SLICE_MS)
  for (const rule of rules) {
    if (await applies(rule, at)) return rule
    if (slice.isOver()) await slice.yield()
  }
  return undefined
}

async function applies(rule: Rule, at: Circumstances): Promise<boolean> {
  if (rule.if !== undefined && !(await readCondition(rule.if)?.(at))) return false
  if (rule.exists !== undefined && !(await doesExist(rule.exists, at))) return false
  return rule.changes === undefined || (await hasChanged(rule.changes, at))
}

function textsOf(value: Value): string[] {
  const given = isMap(value) ? value.paths : value
  const list: readonly unknown[] = Array.isArray(given) ? given.flat(10) : [given]
  return list.filter((one): one is string => typeof one === 'string')
}

async function doesExist(value: Value, at: Circumstances): Promise<boolean> {
  return await anyFits(textsOf(value), await at.paths(elsewhereOf(value, at)), at)
}

/** Longer than the pattern of any path of use; what is longer takes long to compare. */
export const LONGEST_PATTERN = 1024

/** Whether any of the paths fits any of the patterns. There may be very many of both. */
async function anyFits(
  texts: readonly string[],
  paths: readonly string[],
  { variables, patterns }: Circumstances,
): Promise<boolean> {
  for (const text of texts) {
    const glob = expandText(text, variables)
    if (glob.length > LONGEST_PATTERN) {
      const begin = glob.slice(0, 50)
      throw configFault(`pattern ${begin}… is too long (maximum is ${LONGEST_PATTERN} characters)`)
    }
    if (await fitsGlob(patterns, glob, paths)) return true
  }
  return false
}

async function fitsGlob(
  patterns: PatternBudget,
  glob: string,
  paths: readonly string[],
): Promise<boolean> {
  try {
    return await patterns.testAny(globPattern(glob), paths)
  } catch (error) {
    throw faultOf(error, 'pattern', glob)
  }
}

function elsewhereOf(value: Value, at: Circumstances): Elsewhere | undefined {
  if (!isMap(value) || typeof value.project !== 'string') return undefined
  const { project, ref } = value
  return {
    project: expandText(project, at.variables),
    ref: typeof ref === 'string' ? expandText(ref, at.variables) : undefined,
  }
}

/** Counts as changed where there is nothing to compare with: new branches, tags, schedules, runs by hand. */
export async function hasChanged(value: Value, at: Circumstances): Promise<boolean> {
  const compareTo =
    isMap(value) && typeof value.compare_to === 'string' ? value.compare_to : undefined
  const changed = await at.changed(compareTo && expandText(compareTo, at.variables))
  return changed === undefined || (await anyFits(textsOf(value), changed, at))
}
