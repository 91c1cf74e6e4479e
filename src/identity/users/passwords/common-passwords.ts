import { createRequire } from 'node:module'
import type * as Lists from '@zxcvbn-ts/language-common'

/** Shorter ones are refused for their length. */
const SHORTEST = 8
/** What the list does not have. */
const MORE = ['00000000', '0123456789', 'gitstead']

let common: ReadonlySet<string> | undefined

/** Passwords that everybody tries first, from lists of those that were stolen; read when the first password is set. */
function commonPasswords(): ReadonlySet<string> {
  if (common) return common
  const load = createRequire(import.meta.url)
  const { dictionary } = load('@zxcvbn-ts/language-common') as typeof Lists
  const long = dictionary['passwords-common'].filter((one) => one.length >= SHORTEST)
  common = new Set([...long, ...MORE])
  return common
}

/** Whether everybody tries this password first, however its letters are written. */
export function isCommonPassword(password: string): boolean {
  return commonPasswords().has(password.toLowerCase())
}
