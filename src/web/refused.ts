import { Problem } from '../base/problem.ts'

/** For `catch`: what an endpoint refuses is not shown, where a page is more than that; a fault stays one. */
export function noneIfRefused(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
  return undefined
}
