import type { ChangelogConfig } from './config.ts'
import { renderDefault } from './default-section.ts'
import { type CategorizedEntry, categorize } from './entries.ts'
import { ChangelogFailure } from './failure.ts'
import { runLimited } from './run-limited.ts'
import { strftime } from './strftime.ts'
import { formatVersion, parseVersion, type Version } from './version.ts'

/** The version a caller asked for, or the failure that docs/contract/B-resolved §1.8 rule 2 names. */
export function requestedVersion(text: string): Version {
  const version = parseVersion(text)
  if (version) return version
  throw new ChangelogFailure(
    'The requested `version` attribute format is not correct. Use formats such as `1.0.0` or `v1.0.0`.',
  )
}

export interface SectionInput {
  readonly version: Version
  readonly date: string
  readonly config: ChangelogConfig
  readonly entries: readonly CategorizedEntry[]
}

/**
 * The section of one version: the fixed heading, the rendered entries, a blank line (docs/contract/B-resolved §1.8,
 * "Section text"). The default goes through conventional-changelog-writer, a template of the
 * configuration through our own language.
 */
export async function renderSection(input: SectionInput): Promise<string> {
  const { config } = input
  const categories = categorize(input.entries, config.categories)
  const body =
    config.template === undefined
      ? await renderDefault(categories)
      : await runLimited('template', { source: config.template, categories })
  const date = strftime(input.date, config.dateFormat)
  return `## ${formatVersion(input.version)} (${date})\n\n${body}\n\n`
}

/** A section as `GET changelog` returns it: with exactly one newline at its end. */
export function asNotes(section: string): string {
  return `${section.trimEnd()}\n`
}
