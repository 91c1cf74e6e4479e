import type { Commit } from '../../../git/types.ts'

/** Whom a message names. */
export interface MessagePerson {
  readonly name: string
  readonly email: string
}

/** What the placeholders of commit templates stand for (docs/contract/D §1.10). */
export interface MessageFacts {
  readonly sourceBranch: string
  readonly targetBranch: string
  readonly sourceProjectId: number | null
  readonly title: string
  readonly description: string
  /** References of the issues that the merge closes: `#1`. */
  readonly closes: readonly string[]
  /** `group/project!1`. */
  readonly reference: string
  readonly localReference: string
  readonly url: string
  /** Newest first, as the log gives them. */
  readonly commits: readonly Pick<Commit, 'message' | 'author'>[]
  readonly author: MessagePerson | null
  readonly mergedBy: MessagePerson
  readonly approvedBy: readonly MessagePerson[]
  readonly reviewedBy: readonly MessagePerson[]
}

/** The merge commit's message where a project sets no template (docs/contract/D §1.10). */
export const defaultMergeTemplate = `Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}`

/** The squash commit's message where a project sets no template. */
export const defaultSquashTemplate = '%{title}'

const placeholders: Readonly<Record<string, (facts: MessageFacts) => string>> = {
  source_branch: (facts) => facts.sourceBranch,
  target_branch: (facts) => facts.targetBranch,
  title: (facts) => facts.title,
  issues: (facts) => closingLine(facts.closes),
  description: (facts) => facts.description,
  reference: (facts) => facts.reference,
  local_reference: (facts) => facts.localReference,
  source_project_id: (facts) => String(facts.sourceProjectId ?? ''),
  first_commit: (facts) => facts.commits.at(-1)?.message.trim() ?? '',
  first_multiline_commit: (facts) => firstMultiline(facts) ?? facts.title,
  first_multiline_commit_description: (facts) => bodyOf(firstMultiline(facts) ?? ''),
  all_commits: (facts) => allCommits(facts),
  url: (facts) => facts.url,
  approved_by: (facts) => trailers('Approved-by', facts.approvedBy),
  reviewed_by: (facts) => trailers('Reviewed-by', facts.reviewedBy),
  merged_by: (facts) => person(facts.mergedBy),
  co_authored_by: (facts) => trailers('Co-authored-by', coAuthors(facts)),
  merge_request_author: (facts) => (facts.author ? person(facts.author) : ''),
}

/** Whether a template asks for the commits of the merge, which have to be read for it. */
export function needsCommits(template: string): boolean {
  return /%\{(?:first_|all_commits|co_authored_by)/.test(template)
}

/** A message made of a template. A line that holds nothing but an empty placeholder goes, with the gap it leaves. */
export function renderMessage(template: string, facts: MessageFacts): string {
  const lines = template.replace(/\r\n?/g, '\n').split('\n')
  const rendered = lines.flatMap((line) => {
    const text = line.replace(/%\{(\w+)\}/g, (whole, name: string) => {
      const value = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined
      return value ? value(facts) : whole
    })
    return text.trim() === '' && line.trim() !== '' ? [] : [text]
  })
  return rendered
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function closingLine(references: readonly string[]): string {
  if (references.length === 0) return ''
  const last = references.at(-1) ?? ''
  const before = references.slice(0, -1)
  return `Closes ${before.length === 0 ? last : `${before.join(', ')} and ${last}`}`
}

function firstMultiline({ commits }: MessageFacts): string | undefined {
  return commits.findLast((commit) => bodyOf(commit.message) !== '')?.message.trim()
}

function bodyOf(message: string): string {
  const at = message.indexOf('\n')
  return at < 0 ? '' : message.slice(at).trim()
}

const mostCommits = 100
const mostBytes = 100_000

function allCommits({ commits }: MessageFacts): string {
  const shown = commits.slice(0, mostCommits).map(({ message }) => `* ${message.trim()}`)
  const text = shown.reverse().join('\n\n').slice(0, mostBytes)
  return commits.length > mostCommits
    ? `${text}\n\n-- Skipped ${commits.length - mostCommits} commit(s)`
    : text
}

function person({ name, email }: MessagePerson): string {
  return `${name} <${email}>`
}

function trailers(key: string, people: readonly MessagePerson[]): string {
  return people.map((one) => `${key}: ${person(one)}`).join('\n')
}

function coAuthors(facts: MessageFacts): MessagePerson[] {
  const found = new Map<string, MessagePerson>()
  for (const { author } of facts.commits) {
    if (author.email !== facts.author?.email) found.set(author.email, author)
  }
  return [...found.values()]
}
