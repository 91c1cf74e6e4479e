import type { ProjectRow } from '../../../access/find-queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { countCommits } from '../../../git/history/count.ts'
import { inspectRepository } from '../../../git/maintenance/maintenance.ts'
import { readBlob } from '../../../git/objects/blob.ts'
import { readFileSizes } from '../../../git/objects/file-sizes.ts'
import { readTree } from '../../../git/objects/tree.ts'
import { findRef } from '../../../git/refs/refs.ts'
import type { Repo } from '../../../git/repo.ts'
import type { TreeEntry } from '../../../git/types.ts'
import { findProjectRow } from '../list/queries.ts'
import { saveRepositorySize } from '../queries.ts'
import { languageShares } from './languages.ts'
import { licenseFileRank, licenseKeyOf } from './licenses.ts'
import { deleteFacts, listFacts, saveFacts } from './queries.ts'

type Languages = Record<string, number>

/** The languages at the head of the default branch, which is looked at anew only when it has moved. */
export async function freshLanguages(
  ctx: Ctx,
  project: { readonly id: number; readonly default_branch: string | null },
): Promise<Languages> {
  const repo = ctx.git.open(project.id)
  const branch = project.default_branch
  const head = branch === null ? undefined : await findRef(repo, `refs/heads/${branch}`)
  if (!head) {
    await deleteFacts(ctx.db, project.id)
    return {}
  }
  const [known] = await listFacts(ctx.db, [project.id])
  if (known?.commit_id === head.id) return JSON.parse(known.languages) as Languages // written below
  return await lookAt(ctx, repo, project.id, head.id)
}

async function lookAt(
  ctx: Ctx,
  repo: Repo,
  projectId: number,
  commitId: string,
): Promise<Languages> {
  const { entries } = await readTree(repo, { ref: commitId })
  const files = entries.filter((entry) => entry.type === 'blob')
  const license = await findLicenseFile(repo, files)
  const languages = languageShares(await readFileSizes(repo, commitId))
  await saveFacts(ctx.db, {
    project_id: projectId,
    commit_id: commitId,
    readme_path: readmeAmong(files) ?? null,
    license_path: license?.path ?? null,
    license_key: license?.key ?? null,
    languages: JSON.stringify(languages),
    commit_count: await countCommits(repo, { revision: commitId }),
  })
  return languages
}

/** Renderable forms first, as the project page would show one. */
const README_ORDER = ['.md', '.markdown', '.rst', '.adoc', '.asciidoc', '.org', '.txt', '']

function readmeAmong(files: readonly TreeEntry[]): string | undefined {
  const found = files.filter((file) => /^readme(\.[a-z0-9]+)?$/i.test(file.name))
  const rank = (file: TreeEntry) => {
    const extension = file.name.slice('readme'.length).toLowerCase()
    const at = README_ORDER.indexOf(extension)
    return at < 0 ? README_ORDER.length : at
  }
  return found.toSorted((a, b) => rank(a) - rank(b))[0]?.path
}

const LICENSE_LIMIT = 256 * 1024

async function findLicenseFile(
  repo: Repo,
  files: readonly TreeEntry[],
): Promise<{ path: string; key: string } | undefined> {
  const ranked = files.flatMap((file) => {
    const rank = licenseFileRank(file.name)
    return rank === null ? [] : [{ file, rank }]
  })
  const best = ranked.toSorted((a, b) => a.rank - b.rank)[0]?.file
  if (!best) return undefined
  const { size, content } = await readBlob(repo, best.id, { limit: LICENSE_LIMIT }).catch(() => ({
    size: LICENSE_LIMIT,
    content: Buffer.alloc(0),
  }))
  const key = size >= LICENSE_LIMIT ? 'other' : licenseKeyOf(content.toString('utf8'))
  return { path: best.path, key }
}

/** Brings everything that is remembered of a project's repository up to date. */
export async function refreshFacts(ctx: Ctx, projectId: number): Promise<void> {
  await refreshContent(ctx, projectId)
  await measureSize(ctx, projectId)
}

/** Brings what is remembered of the head of the default branch up to date. */
export async function refreshContent(ctx: Ctx, projectId: number): Promise<void> {
  await unlessGone(ctx, projectId, async (project) => {
    await freshLanguages(ctx, project)
  })
}

/** Looks at all files of a repository, which may be thousands, and saves how much they take. */
export async function measureSize(ctx: Ctx, projectId: number): Promise<void> {
  await unlessGone(ctx, projectId, async () => {
    const { size } = await inspectRepository(ctx.git.open(projectId))
    await saveRepositorySize(ctx.db, projectId, size)
  })
}

/** Looks at a repository. Its project may be deleted before or meanwhile, which is no failure. */
async function unlessGone(
  ctx: Ctx,
  projectId: number,
  look: (project: ProjectRow) => Promise<void>,
): Promise<void> {
  const project = await findProjectRow(ctx.db, projectId)
  if (!project || !(await ctx.git.exists(projectId))) return
  try {
    await look(project)
  } catch (error) {
    if (await findProjectRow(ctx.db, projectId)) throw error
  }
}
