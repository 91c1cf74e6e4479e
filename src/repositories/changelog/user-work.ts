import { workerTask } from '../../base/workers/worker-task.ts'
import { parseChangelogConfig } from './config.ts'
import type { ChangelogCategory } from './entries.ts'
import { ChangelogFailure } from './failure.ts'
import { previousTag as findPreviousTag } from './previous-tag.ts'
import { renderTemplate, type TemplateValue } from './render-template.ts'
import { parseTemplate } from './template.ts'
import type { Version } from './version.ts'

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

/**
 * The parts of a changelog that work on what a user wrote: the configuration file, its regular
 * expression, its template. They run in a worker with a time limit (run-limited.ts).
 */
const work = {
  config: ({ text, path }: { readonly text: string; readonly path: string }) =>
    parseChangelogConfig(text, path),
  previousTag: (input: {
    readonly tags: readonly string[]
    readonly requested: Version
    readonly pattern: string
  }) => findPreviousTag(input.tags, input.requested, input.pattern),
  template(input: {
    readonly source: string
    readonly categories: readonly ChangelogCategory[]
  }): string {
    // Entries are JSON already; only their optional fields keep the compiler from seeing it.
    const data = { categories: input.categories } as unknown as TemplateValue
    return renderTemplate(parseTemplate(input.source), data).trim()
  },
}
export type UserWork = typeof work

export const config = limited(work.config)
export const previousTag = limited(work.previousTag)
export const template = limited(work.template)
