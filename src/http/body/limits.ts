import type { Config } from '../../base/config.ts'
import { ByteBudget } from './budget.ts'
import type { FormLimits } from './form.ts'
import type { JsonLimits } from './json-scan.ts'

/** What all bodies have in common. */
export interface BodyLimits extends FormLimits, JsonLimits {
  /** Largest body, files not counted. */
  readonly bytes: number
  /** Largest body of a caller who is not signed in. */
  readonly anonymousBytes: number
  /** Largest file of a form. */
  readonly uploadBytes: number
  /** Milliseconds without a byte that end it. */
  readonly idleMs: number
}

/** What bodies hold at a time, by address. */
export interface BodyBudgets {
  readonly memory: ByteBudget
  /** Of callers who are not signed in. */
  readonly anonymousMemory: ByteBudget
  readonly disk: ByteBudget
}

export function bodyLimits(config: Config): BodyLimits {
  return {
    bytes: config.maxBody,
    anonymousBytes: config.maxAnonymousBody,
    uploadBytes: config.maxUpload,
    parameters: config.maxParameters,
    formDepth: config.maxFormDepth,
    jsonDepth: config.maxJsonDepth,
    jsonValues: config.maxJsonValues,
    idleMs: config.bodyIdle,
  }
}

/** The budgets of one server. */
export function bodyBudgets(config: Config): BodyBudgets {
  return {
    memory: new ByteBudget({ inAll: config.bodiesInFlight, each: config.bodiesPerAddress }),
    anonymousMemory: new ByteBudget({
      inAll: config.anonymousBodies,
      each: Math.ceil(config.anonymousBodies / 4),
    }),
    disk: new ByteBudget({ inAll: config.uploadsInFlight, each: config.uploadsPerAddress }),
  }
}
