import { workerTask } from '../../base/workers/worker-task.ts'
import { type ChangelogConfig, parseChangelogConfig } from './config.ts'
import type { ChangelogCategory } from './entries.ts'
import { ChangelogFailure } from './failure.ts'
import { previousTag as findPreviousTag } from './previous-tag.ts'
import { renderTemplate, type TemplateValue } from './render-template.ts'
import { parseTemplate } from './template.ts'
import type { Version } from './version.ts'

/**
 * The parts of a changelog that work on what a user wrote: the configuration file, its regular
 * expression, its template. They run in a worker with a time limit (run-limited.ts).
 */
export interface UserWork {
  config(input: { readonly text: string; readonly path: string }): ChangelogConfig
  previousTag(input: {
    readonly tags: readonly string[]
    readonly requested: Version
    readonly pattern: string
  }): string | undefined
  template(input: {
    readonly source: string
    readonly categories: readonly ChangelogCategory[]
  }): string
}

/** An error's class does not survive the way back from a worker. */
export type UserWorkResult<T> = { readonly value: T } | { readonly failure: string }

function limited<Input, Output>(act: (input: Input) => Output) {
  return workerTask((input: Input): UserWorkResult<Output> => {
    try {
      return { value: act(input) }
    } catch (error) {
      if (error instanceof ChangelogFailure) return { failure: error.message }
      throw error
    }
  })
}

export const config = limited<Parameters<UserWork['config']>[0], ChangelogConfig>(
  ({ text, path }) => parseChangelogConfig(text, path),
)

export const previousTag = limited<Parameters<UserWork['previousTag']>[0], string | undefined>(
  ({ tags, requested, pattern }) => findPreviousTag(tags, requested, pattern),
)

export const template = limited<Parameters<UserWork['template']>[0], string>(
  ({ source, categories }) => {
    // Entries are JSON already; only their optional fields keep the compiler from seeing it.
    const data = { categories } as unknown as TemplateValue
    return renderTemplate(parseTemplate(source), data).trim()
  },
)
