import type { z } from 'zod'
import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { renderField } from '../../markdown/render.ts'
import { presentMilestonesById } from '../../planning/milestones/verbs.ts'
import { presentCommit } from '../../repositories/commits/entity.ts'
import { presentLink, type releaseEntity } from './entity.ts'
import { presentEvidence } from './evidence.ts'
import { listEvidenceRows } from './evidence-queries.ts'
import { listLinksOf, listMilestonesOf, type ReleaseRow } from './queries.ts'

const FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

/** `…/-/releases/v1`, where a person reads the release and direct paths are served below. */
export function releaseUrl(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  tag: string,
): string {
  return `${ctx.config.externalUrl}/${project.full_path}/-/releases/${encodeURIComponent(tag)}`
}

/** Releases of one project for the wire; what belongs to them is read for all at once. */
export async function presentReleases(
  ctx: Ctx,
  project: Project,
  rows: readonly ReleaseRow[],
  options: { readonly html?: boolean | undefined } = {},
): Promise<z.input<typeof releaseEntity>[]> {
  const html = options.html ? await htmlOf(ctx, project, rows) : undefined
  const ids = rows.map((row) => row.id)
  const users = await usersById(
    ctx,
    rows.map((row) => row.author_id),
  )
  const links = await listLinksOf(ctx.db, ids)
  const ties = mayInProject(ctx.actor, project, 'read_labels')
    ? await listMilestonesOf(ctx.db, viewerOf(ctx), ids)
    : []
  const milestones = await presentMilestonesById(
    ctx,
    ties.map((tie) => tie.milestone_id),
  )
  const commits = await commitsOf(ctx, project, rows)
  const readsCode = mayInProject(ctx.actor, project, 'read_code')
  const evidences = readsCode ? await listEvidenceRows(ctx.db, ids) : []
  return rows.map((row) => {
    const own = links.filter((link) => link.release_id === row.id)
    const downloads = `${releaseUrl(ctx, project, row.tag)}/downloads`
    const sources = readsCode ? sourceArchives(ctx, project, row.tag) : []
    return {
      ...plainFields(ctx, project, row),
      ...(html ? { description_html: html.get(row.id) ?? '' } : {}),
      author: users.get(row.author_id ?? 0) ?? null,
      commit: commits.get(row.sha ?? '') ?? null,
      milestones: ties.flatMap((tie) => {
        const milestone = tie.release_id === row.id ? milestones.get(tie.milestone_id) : undefined
        return milestone
          ? [{ ...milestone, issue_stats: { total: tie.total, closed: tie.closed } }]
          : []
      }),
      assets: {
        count: sources.length + own.length,
        sources,
        links: own.map((link) => presentLink(link, downloads)),
      },
      evidences: evidences
        .filter((one) => one.release_id === row.id)
        .map((one) => presentEvidence(ctx, project, row.tag, one)),
    }
  })
}

async function htmlOf(ctx: Ctx, project: Project, rows: readonly ReleaseRow[]) {
  const found = new Map<number, string>()
  for (const row of rows) {
    found.set(row.id, await renderField(ctx, row.description, project))
  }
  return found
}

/** The archives of the code of a release, by format. */
export function sourceArchives(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'path' | 'full_path'>,
  tag: string,
) {
  const name = `${project.path}-${tag.replaceAll('/', '-')}`
  const base = `${ctx.config.externalUrl}/${project.full_path}/-/archive/${encodeURIComponent(tag)}`
  return FORMATS.map((format) => ({ format, url: `${base}/${encodeURIComponent(name)}.${format}` }))
}

/** The commits that are still there; one that is gone is null in its release. */
async function commitsOf(ctx: Ctx, project: Project, rows: readonly ReleaseRow[]) {
  const repo = ctx.git.open(project.id)
  const found = new Map<string, ReturnType<typeof presentCommit>>()
  if (!mayInProject(ctx.actor, project, 'read_code')) return found
  for (const sha of new Set(rows.flatMap((row) => row.sha ?? []))) {
    try {
      for (const commit of await readCommits(repo, [sha]))
        found.set(sha, presentCommit(ctx, project, commit))
    } catch (error) {
      if (!(error instanceof GitError && error.code === 'not_found')) throw error
    }
  }
  return found
}

function plainFields(ctx: Ctx, project: Project, row: ReleaseRow) {
  const web = `${ctx.config.externalUrl}/${project.full_path}/-`
  const tag = encodeURIComponent(row.tag)
  const self = releaseUrl(ctx, project, row.tag)
  const list = (kind: string, state: string) =>
    `${web}/${kind}?release_tag=${tag}&scope=all&state=${state}`
  return {
    tag_name: row.tag,
    name: row.name,
    description: row.description,
    created_at: row.created_at,
    released_at: row.released_at,
    upcoming_release: row.released_at > ctx.now(),
    commit_path: row.sha === null ? null : `/${project.full_path}/-/commit/${row.sha}`,
    tag_path: `/${project.full_path}/-/tags/${tag}`,
    _links: {
      closed_issues_url: list('issues', 'closed'),
      closed_merge_requests_url: list('merge_requests', 'closed'),
      edit_url: `${self}/edit`,
      merged_merge_requests_url: list('merge_requests', 'merged'),
      opened_issues_url: list('issues', 'opened'),
      opened_merge_requests_url: list('merge_requests', 'opened'),
      self,
    },
  }
}
