import { type Viewer, viewerOf } from '../access/visible-queries.ts'
import type { Ctx } from '../ctx.ts'
import { GitError } from '../git/error.ts'
import { readCommit } from '../git/objects/commit.ts'
import { findAddresses, findNamed, type NamedMention } from './find-named.ts'
import { findReferences, type Reference } from './find-references.ts'
import type { LinkedText, MarkdownJob } from './job.ts'
import {
  findCodeAt,
  listKnownGroups,
  listKnownLabels,
  listKnownMilestones,
  listKnownSnippets,
  listKnownUsers,
  listSeenIssuesAt,
  listSeenMergeRequestsAt,
  type MarkdownPlace,
} from './queries.ts'

/** Most commits that one text is searched for. */
const MAX_COMMITS = 10

interface Numbered {
  readonly kind: 'issue' | 'merge_request'
  readonly path: string
  readonly iid: number
}

/**
 * What a text of a project mentions and the caller may see, with where it leads. What they may not see stays text, as if
 * it were not there.
 */
export async function findLinks(
  ctx: Ctx,
  text: string,
  place: MarkdownPlace,
): Promise<Pick<MarkdownJob, 'references' | 'addresses'>> {
  const viewer = viewerOf(ctx)
  const found = findReferences(text)
  const named = /[~%$]/.test(text) ? findNamed(text) : []
  const addresses = findAddresses(text, ctx.config.externalUrl)
  const links = [
    ...(await numberedLinks(ctx, viewer, place, found)),
    ...(await peopleLinks(ctx, viewer, found)),
    ...(await commitLinks(ctx, viewer, place, found)),
    ...(await namedLinks(ctx, viewer, place, named)),
  ]
  // The longest first, so that `~bug-fix` is not `~bug` with something behind it.
  links.sort((one, other) => other.text.length - one.text.length)
  const known = await seenAmong(ctx, viewer, addresses)
  return {
    references: links,
    addresses: addresses.filter(known).map((one) => [one.url, shortOf(one, place.full_path)]),
  }
}

function shortOf({ kind, path, iid }: Numbered, own: string): string {
  return `${path === own ? '' : path}${kind === 'issue' ? '#' : '!'}${iid}`
}

/** Finds which of some issues and merge requests the viewer sees. */
async function seenAmong(
  ctx: Ctx,
  viewer: Viewer,
  asked: readonly Numbered[],
): Promise<(one: Numbered) => boolean> {
  const seen = new Set<string>()
  for (const path of new Set(asked.map((one) => one.path))) {
    const iids = (kind: Numbered['kind']) =>
      asked.filter((one) => one.kind === kind && one.path === path).map((one) => one.iid)
    for (const { iid } of await listSeenIssuesAt(ctx.db, viewer, path, iids('issue')))
      seen.add(`${path}#${iid}`)
    const requests = await listSeenMergeRequestsAt(ctx.db, viewer, path, iids('merge_request'))
    for (const { iid } of requests) seen.add(`${path}!${iid}`)
  }
  return (one) => seen.has(shortOf(one, ''))
}

async function numberedLinks(
  ctx: Ctx,
  viewer: Viewer,
  place: MarkdownPlace,
  found: readonly Reference[],
): Promise<LinkedText[]> {
  const numbered = found.flatMap((one) =>
    one.kind === 'issue' || one.kind === 'merge_request'
      ? [
          {
            kind: one.kind,
            written: one.project,
            path: one.project ?? place.full_path,
            iid: one.iid,
          },
        ]
      : [],
  )
  const isSeen = await seenAmong(ctx, viewer, numbered)
  return numbered.filter(isSeen).map((one) => {
    const [sign, page] = one.kind === 'issue' ? ['#', 'issues'] : ['!', 'merge_requests']
    return {
      text: `${one.written ?? ''}${sign}${one.iid}`,
      url: `${ctx.config.externalUrl}/${one.path}/-/${page}/${one.iid}`,
    }
  })
}

async function peopleLinks(
  ctx: Ctx,
  viewer: Viewer,
  found: readonly Reference[],
): Promise<LinkedText[]> {
  const names = found.flatMap((one) => (one.kind === 'user' ? [one.username] : []))
  const { externalUrl } = ctx.config
  const users = new Map(
    (await listKnownUsers(ctx.db, names)).map((name) => [name.toLowerCase(), name]),
  )
  const groups = await listKnownGroups(ctx.db, viewer, names)
  return [
    // As it was written, which need not be how they write themselves.
    ...names.flatMap((name) => {
      const known = users.get(name.toLowerCase())
      return known === undefined ? [] : [{ text: `@${name}`, url: `${externalUrl}/${known}` }]
    }),
    ...groups.map((path) => ({ text: `@${path}`, url: `${externalUrl}/groups/${path}` })),
  ]
}

async function commitLinks(
  ctx: Ctx,
  viewer: Viewer,
  place: MarkdownPlace,
  found: readonly Reference[],
): Promise<LinkedText[]> {
  const commits = found.flatMap((one) => (one.kind === 'commit' ? [one] : [])).slice(0, MAX_COMMITS)
  const links: LinkedText[] = []
  for (const { project, sha } of commits) {
    const path = project ?? place.full_path
    const code = await findCodeAt(ctx.db, viewer, path)
    const id = code && (await findCommitId(ctx, code.id, sha))
    if (!id) continue
    const written = project === null ? '' : `${project}@`
    links.push({
      text: `${written}${sha}`,
      shown: `${written}${id.slice(0, 8)}`,
      url: `${ctx.config.externalUrl}/${path}/-/commit/${id}`,
    })
  }
  return links
}

/** The whole id of a commit; undefined when the repository has none of this id. */
export async function findCommitId(
  ctx: Ctx,
  projectId: number,
  sha: string,
): Promise<string | undefined> {
  try {
    const { id } = await readCommit(ctx.git.open(projectId), sha)
    return id.startsWith(sha) ? id : undefined
  } catch (error) {
    if (error instanceof GitError) return undefined
    throw error
  }
}

/** Labels, milestones and snippets of the project, and of the groups above it. */
async function namedLinks(
  ctx: Ctx,
  viewer: Viewer,
  place: MarkdownPlace,
  named: readonly NamedMention[],
): Promise<LinkedText[]> {
  const base = `${ctx.config.externalUrl}/${place.full_path}/-`
  const of = (kind: NamedMention['kind']) => named.filter((one) => one.kind === kind)
  const names = (kind: NamedMention['kind']) => of(kind).map((one) => one.name)
  const labels = await listKnownLabels(ctx.db, place, names('label'))
  const milestones = await listKnownMilestones(ctx.db, place, names('milestone'))
  const snippets = await listKnownSnippets(ctx.db, viewer, place, names('snippet'))
  return [
    ...of('label').flatMap(({ text, name }) => {
      const label = labels.find((one) => one.title === name || String(one.id) === name)
      if (!label) return []
      const url = `${base}/issues?label_name=${encodeURIComponent(label.title)}`
      return [{ text, url, shown: label.title }]
    }),
    ...of('milestone').flatMap(({ text, name }) => {
      const found = milestones.find((one) => one.title === name || String(one.iid) === name)
      if (!found) return []
      const group = `${ctx.config.externalUrl}/groups/${found.group_path}/-`
      const url = `${found.project_id === null ? group : base}/milestones/${found.iid}`
      return [{ text, url, shown: `%${found.title}` }]
    }),
    ...of('snippet')
      .filter(({ name }) => snippets.includes(Number(name)))
      .map(({ text, name }) => ({ text, url: `${base}/snippets/${name}` })),
  ]
}
