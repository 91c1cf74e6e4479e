import { diskFullText, isDiskFull } from '../../base/full-disk.ts'
import { GitError, type GitErrorCode } from '../error.ts'

/** From the main process to an engine process. */
export type ToEngine =
  | {
      readonly kind: 'run'
      readonly id: number
      readonly operation: string
      readonly path: string
      readonly input: unknown
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'forget'; readonly path: string }

/** From an engine process to the main process; pieces of streams take the pipe of pieces.ts. */
export type FromEngine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown; readonly memory: number }
  | {
      readonly kind: 'failed'
      readonly id: number
      readonly error: PlainError
      readonly memory: number
    }

/** An error in a form that crosses processes. */
export interface PlainError {
  readonly code: GitErrorCode | undefined
  readonly message: string
  readonly detail: Readonly<Record<string, string | number>>
  readonly stack: string | undefined
}

/** Takes an error apart for the way to the main process. */
export function packError(error: unknown): PlainError {
  if (error instanceof GitError) {
    return { code: error.code, message: error.message, detail: error.detail, stack: undefined }
  }
  if (isDiskFull(error))
    return { code: 'full', message: diskFullText, detail: {}, stack: undefined }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: undefined, message, detail: {}, stack }
}

/** The error again, as it was: a `GitError`, or a plain one (a bug) with its stack. */
export function unpackError(plain: PlainError): Error {
  if (plain.code !== undefined) return new GitError(plain.code, plain.message, plain.detail)
  const error = new Error(plain.message)
  if (plain.stack !== undefined) error.stack = plain.stack
  return error
}
