import { isMap } from '../config/values.ts'

/** A variable as runners read it. */
export interface SentVariable {
  readonly key: string
  readonly value: string
  readonly public: boolean
  readonly masked: boolean
  readonly file: boolean
  readonly raw: boolean
}

/** The name of the environment that a job deploys to. */
export function environmentName(environment: string | null): string | undefined {
  const given = environment === null ? undefined : (JSON.parse(environment) as unknown)
  return isMap(given) && typeof given.name === 'string' ? given.name : undefined
}
