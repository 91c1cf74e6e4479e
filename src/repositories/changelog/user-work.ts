import { type ChangelogConfig, parseChangelogConfig } from './config.ts'
import type { ChangelogCategory } from './entries.ts'
import { previousTag } from './previous-tag.ts'
import { renderTemplate, type TemplateValue } from './render-template.ts'
import { parseTemplate } from './template.ts'
import type { Version } from './version.ts'

/**
 * The parts of a changelog that work on what a user wrote: the configuration file, its regular
 * expression, its template. They run in a worker with a time limit (user-worker.ts).
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

export const userWork: UserWork = {
  config: ({ text, path }) => parseChangelogConfig(text, path),
  previousTag: ({ tags, requested, pattern }) => previousTag(tags, requested, pattern),
  template({ source, categories }) {
    // Entries are JSON already; only their optional fields keep the compiler from seeing it.
    const data = { categories } as unknown as TemplateValue
    return renderTemplate(parseTemplate(source), data).trim()
  },
}

/** What a worker is started with. */
export type WorkerTask = {
  readonly [Name in keyof UserWork]: {
    readonly name: Name
    readonly input: Parameters<UserWork[Name]>[0]
  }
}[keyof UserWork]

/** What a worker answers. */
export type WorkerAnswer =
  | { readonly ready: true }
  | { readonly value: unknown }
  | { readonly failure: string }
  | { readonly bug: string }
