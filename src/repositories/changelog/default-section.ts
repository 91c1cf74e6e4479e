import type { ChangelogCategory, ChangelogEntry } from './entries.ts'

// The default template of docs/contract/B-resolved §1.8, by its output, in the writer's words.
const mainTemplate = `{{#if commitGroups}}{{#each commitGroups}}{{#unless @first}}

{{/unless}}### {{title}} ({{changes}})

{{#each commits}}{{#unless @first}}
{{/unless}}{{> commit}}{{/each}}{{/each}}{{else}}No changes.{{/if}}`

const commitPartial =
  '- [{{title}}]({{url}}){{#if credit}} by {{credit}}{{/if}}' +
  '{{#if mergeRequest}} ([merge request]({{mergeRequest}})){{/if}}'

/** An entry as the writer knows commits. */
interface WriterCommit {
  readonly notes: []
  readonly group: string
  readonly title: string
  readonly url: string
  readonly credit: string
  readonly mergeRequest: string
}

function asCommit(entry: ChangelogEntry, group: string): WriterCommit {
  return {
    notes: [],
    group,
    title: entry.title,
    url: entry.commit.web_url,
    credit: entry.author?.credit ? entry.author.reference : '',
    mergeRequest: entry.merge_request?.web_url ?? '',
  }
}

function changes(category: ChangelogCategory): string {
  return category.single_change ? '1 change' : `${category.count} changes`
}

/** The categories as the default template shows them, without white space around. */
export async function renderDefault(categories: readonly ChangelogCategory[]): Promise<string> {
  // The writer groups in a plain object: keys that are no words of the language, nor numbers,
  // which would change their order.
  const byGroup = new Map(categories.map((category, index) => [`c${index}`, category]))
  const commits = [...byGroup].flatMap(([group, category]) =>
    category.entries.map((entry) => asCommit(entry, group)),
  )
  const order = (group: { readonly title: string }) => Number(group.title.slice(1))
  // Loaded by the first changelog: it brings a template language that the server itself has no use for.
  const { writeChangelogString } = await import('conventional-changelog-writer')
  const text = await writeChangelogString<WriterCommit>(
    commits,
    {},
    {
      groupBy: 'group',
      transform: (commit) => commit,
      commitGroupsSort: (a, b) => order(a) - order(b),
      // Entries keep their order: the sort is stable.
      commitsSort: () => 0,
      generateOn: () => false,
      // What the revert of an entry means was decided before.
      ignoreReverted: false,
      mainTemplate,
      commitPartial,
      finalizeContext: (context) => ({
        ...context,
        commitGroups: (context.commitGroups ?? []).map((group) => {
          const category = byGroup.get(group.title)
          const title = category?.title ?? ''
          return { ...group, title, changes: category ? changes(category) : '' }
        }),
        // The writer prints the whole context for its debug log even when nobody listens.
        toJSON: () => 'changelog',
      }),
    },
  )
  return text.trim()
}
