import type { ApiRecord } from '../place/api.ts'
import type { Random } from '../random.ts'
import type { Ground } from './ground.ts'
import { oddValue } from './odd-values.ts'
import type { Parameter } from './operations.ts'

/** A value that the operation may well accept, so that more than its first check is reached. */
export function plausibleValue(parameter: Parameter, random: Random, ground: Ground): unknown {
  const known = ground.values[parameter.name]
  if (known !== undefined && known.length > 0 && random.percent(80)) return random.pick(known)
  return ofSchema(parameter.name, parameter.schema, random, ground, 0)
}

function ofSchema(
  name: string,
  schema: ApiRecord,
  random: Random,
  ground: Ground,
  depth: number,
): unknown {
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices)) {
    return ofSchema(name, random.pick(choices) as ApiRecord, random, ground, depth)
  }
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  if (schema.const !== undefined) return schema.const
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'integer':
    case 'number':
      return numberFor(schema, random)
    case 'boolean':
      return random.percent(50)
    case 'null':
      return null
    case 'array':
      return listFor(name, schema, random, ground, depth)
    case 'object':
      return objectFor(schema, random, ground, depth)
    case 'string':
      return textFor(name, schema, random, ground)
    default:
      return random.percent(50) ? textFor(name, schema, random, ground) : oddValue(random)
  }
}

function numberFor(schema: ApiRecord, random: Random): number {
  const least = Number(schema.minimum ?? 0)
  const most = Math.min(Number(schema.maximum ?? 60), least + 1000)
  return random.integer(least, Math.max(least, most))
}

function listFor(
  name: string,
  schema: ApiRecord,
  random: Random,
  ground: Ground,
  depth: number,
): unknown[] {
  const items = (schema.items ?? {}) as ApiRecord
  const single = name.replace(/s$/, '')
  const known = ground.values[single]
  return Array.from({ length: random.integer(0, 2) }, () =>
    known !== undefined && known.length > 0
      ? random.pick(known)
      : ofSchema(single, items, random, ground, depth + 1),
  )
}

function objectFor(schema: ApiRecord, random: Random, ground: Ground, depth: number): unknown {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, ApiRecord>)
  if (properties.length === 0 || depth > 4) return { [random.word(3)]: random.word(3) }
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const made: Record<string, unknown> = {}
  for (const [name, inner] of properties) {
    if (!required.has(name) && random.percent(40)) continue
    // One field in a good object is wrong now and then.
    made[name] = random.percent(12)
      ? oddValue(random)
      : plausibleField(name, inner, random, ground, depth)
  }
  return made
}

function plausibleField(
  name: string,
  schema: ApiRecord,
  random: Random,
  ground: Ground,
  depth: number,
): unknown {
  const known = ground.values[name]
  if (known !== undefined && known.length > 0 && random.percent(70)) return random.pick(known)
  return ofSchema(name, schema, random, ground, depth + 1)
}

function textFor(name: string, schema: ApiRecord, random: Random, ground: Ground): string {
  if (schema.format === 'date-time') return random.pick(instants)
  if (schema.format === 'date') return random.pick(instants).slice(0, 10)
  for (const [pattern, make] of namedTexts) if (pattern.test(name)) return make(random, ground)
  return random.word(random.pick([1, 8, 30]))
}

const instants = ['2026-05-04T10:00:00Z', '2001-01-01T00:00:00Z', '2031-12-31T23:59:59.999Z']

const namedTexts: readonly (readonly [RegExp, (random: Random, ground: Ground) => string])[] = [
  [/url|uri|link$/, () => 'http://127.0.0.1:9/hook'],
  [/email/, (random) => `${random.word()}@example.com`],
  [/password/, (random) => `${random.word(12)}-A1`],
  [/colou?r/, () => '#ff8800'],
  [/branch|^ref$|^from$|^to$/, (random) => random.pick(['main', 'feature-1', 'nowhere'])],
  [/sha|commit_id/, (random, ground) => random.pick(ground.commits)],
  [/regex/, (random) => random.pick(['^a.*b$', '(a|b)+', '[0-9]{1,3}'])],
  [/path|filename|file_name/, (random) => random.pick([random.word(), 'README.md', 'dir/a.txt'])],
  [/duration/, (random) => random.pick(['1h', '1w 2d', '-30m', '90'])],
  [/scope/, (random) => random.pick(['api', 'read_api', 'read_repository'])],
  [/key/, (random) => random.pick([random.word(), 'KEY_1'])],
]
