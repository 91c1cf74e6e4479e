import { Problem } from '../../../base/problem.ts'
import { configFault } from '../../config/fault.ts'

const MASK = '[MASKED]'

/** A text that shows no masked value. */
export function hideMasked(text: string, values: readonly string[]): string {
  return values.reduce((shown, value) => shown.replaceAll(value, MASK), text)
}

/** A fault of a configuration in words that show no masked value: a path or an address may be made of one. */
export function faultWithoutMasked(error: unknown, values: readonly string[]): unknown {
  if (!(error instanceof Problem) || !error.fields?.base) return error
  const text = error.fields.base.join(', ')
  const shown = hideMasked(text, values)
  return shown === text ? error : configFault(shown)
}
