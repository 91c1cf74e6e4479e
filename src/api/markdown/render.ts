import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import { badParameters } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findReferences, type Reference } from '../references/find-references.ts'
import { listKnownIssues, listKnownMergeRequests, listKnownUsers } from './queries.ts'
import { type LinkedText, longestMarkdown, renderHtml } from './renderer.ts'

/**
 * Markdown as safe HTML. With a project, mentions of issues, merge requests and users that the caller may see become
 * links; what they may not see stays text, as if it were not there.
 */
export async function renderMarkdown(
  ctx: Ctx,
  text: string,
  projectPath: string | null = null,
): Promise<string> {
  if (text.length > longestMarkdown) {
    throw badParameters(`text is too long (maximum is ${longestMarkdown} characters)`)
  }
  const references = projectPath === null ? [] : await linksOf(ctx, text, projectPath)
  return await renderHtml({ text, references, own: `${ctx.config.externalUrl}/` })
}

async function linksOf(ctx: Ctx, text: string, projectPath: string): Promise<LinkedText[]> {
  const found = findReferences(text)
  const numbered = found.filter(isNumbered)
  const links: LinkedText[] = []
  for (const path of new Set(numbered.map((one) => one.project ?? projectPath))) {
    const mentions = numbered.filter((one) => (one.project ?? projectPath) === path)
    links.push(...(await numberedLinks(ctx, path, mentions)))
  }
  const names = found.flatMap((one) => (one.kind === 'user' ? [one.username] : []))
  for (const name of await listKnownUsers(ctx.db, names)) {
    links.push({ text: `@${name}`, url: `${ctx.config.externalUrl}/${name}` })
  }
  return links
}

type Numbered = Extract<Reference, { readonly iid: number }>

function isNumbered(reference: Reference): reference is Numbered {
  return reference.kind === 'issue' || reference.kind === 'merge_request'
}

async function numberedLinks(
  ctx: Ctx,
  path: string,
  mentions: readonly Numbered[],
): Promise<LinkedText[]> {
  const viewer = viewerOf(ctx.actor, dayOf(ctx.now()))
  const numbers = (kind: Numbered['kind']) =>
    mentions.filter((one) => one.kind === kind).map((one) => one.iid)
  const known = {
    issue: new Set(await listKnownIssues(ctx.db, viewer, path, numbers('issue'))),
    merge_request: new Set(
      await listKnownMergeRequests(ctx.db, viewer, path, numbers('merge_request')),
    ),
  }
  return mentions
    .filter((one) => known[one.kind].has(one.iid))
    .map((one) => {
      const [sign, page] = one.kind === 'issue' ? ['#', 'issues'] : ['!', 'merge_requests']
      return {
        text: `${one.project ?? ''}${sign}${one.iid}`,
        url: `${ctx.config.externalUrl}/${path}/-/${page}/${one.iid}`,
      }
    })
}
