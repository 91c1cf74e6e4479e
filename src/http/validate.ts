import { z } from 'zod'
import { badParameters } from '../base/problem.ts'
import type { Shape } from './endpoint.ts'
import type { Input } from './read-input.ts'

const objects = new WeakMap<Shape, z.ZodObject>()

function objectOf(shape: Shape): z.ZodObject {
  const known = objects.get(shape)
  if (known) return known
  const made = z.object(shape as z.ZodRawShape)
  objects.set(shape, made)
  return made
}

/** `assets[links][0][name]`, as the spec's error texts name a parameter. */
function nameOf(path: readonly PropertyKey[]): string {
  const [first, ...inner] = path.map(String)
  return `${first ?? ''}${inner.map((key) => `[${key}]`).join('')}`
}

function wordsFor(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom') return issue.message
  return 'input' in issue && issue.input === undefined ? 'is missing' : 'is invalid'
}

function isEmpty(shape: Shape): boolean {
  for (const _name in shape) return false
  return true
}

/** Reads parameters by their schemas; returns texts of what is wrong beside what was read. */
export function validate(
  shape: Shape,
  input: Input,
): { readonly value: Record<string, unknown>; readonly wrong: readonly string[] } {
  // Most endpoints take parameters in one place only.
  if (isEmpty(shape)) return { value: {}, wrong: [] }
  const read = objectOf(shape).safeParse(input, { reportInput: true })
  if (read.success) return { value: read.data, wrong: [] }
  const wrong = read.error.issues.map((issue) => `${nameOf(issue.path)} ${wordsFor(issue)}`)
  return { value: {}, wrong: [...new Set(wrong)] }
}

/** 400 with every text joined, as docs/contract/A-resolved §1 has it; nothing when nothing is wrong. */
export function refuseWrong(wrong: readonly string[]): void {
  if (wrong.length > 0) throw badParameters(...wrong)
}
