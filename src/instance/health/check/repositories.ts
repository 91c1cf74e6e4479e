import type { Ctx } from '../../../ctx.ts'
import { findFaults } from '../../../git/maintenance/faults.ts'
import type { RepoName } from '../../../git/repo-name.ts'
import type { JournalKey } from '../../../repositories/refs/journal/queries.ts'
import type { Db } from '../../../store/schema.ts'
import type { BackupSource } from '../mend/backup-source.ts'
import { mendRepository } from '../mend/mend-repository.ts'
import { countProjects, listProjectsAfter, listWikisAndSnippetsAfter } from '../queries.ts'
import { type Finding, finding, type Manner } from './finding.ts'
import { findRefFaults, type RefFault } from './refs.ts'

/** Two programs look while one of ours reads. */
const atOnce = 3

/** A repository that the database knows. */
export interface Known {
  readonly name: RepoName
  readonly key: JournalKey
  /** What it is called in findings. */
  readonly title: string
  readonly defaultBranch: string | undefined
  /** Whether nobody has written anything there. */
  readonly isEmpty: boolean
}

/** Looks at the repository of every project, wiki and snippet. */
export async function repositoryFindings(
  ctx: Ctx,
  manner: Manner,
  options: { readonly backup: BackupSource; readonly say: (text: string) => void },
): Promise<Finding[]> {
  const total = await countProjects(ctx.db)
  const findings = new Map<number, Finding[]>()
  const repositories = allRepositories(ctx.db)
  let seen = 0
  const work = async () => {
    for (let next = await repositories.next(); !next.done; next = await repositories.next()) {
      manner.signal.throwIfAborted()
      const at = ++seen
      options.say(`repository ${at}, of ${total} projects: ${next.value.title}`)
      findings.set(at, await oneRepository(ctx, next.value, manner, options.backup))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const found = [...findings].sort(([one], [other]) => one - other).flatMap(([, of]) => of)
  const bad = found.some(({ state }) => state !== 'ok')
  return bad ? found : [...found, finding('repositories', 'ok', `${seen} checked`)]
}

/** The code of every project, then every wiki and snippet. */
async function* allRepositories(db: Db): AsyncGenerator<Known> {
  for (let last = 0; ; ) {
    const projects = await listProjectsAfter(db, last, 200)
    if (projects.length === 0) break
    for (const { id, full_path, default_branch, empty_repo } of projects) {
      last = id
      const about = { name: id, key: { projectId: id }, title: `${full_path} (${id})` }
      yield { ...about, defaultBranch: default_branch ?? undefined, isEmpty: empty_repo === 1 }
    }
  }
  for (let last = 0; ; ) {
    const found = await listWikisAndSnippetsAfter(db, last, 200)
    if (found.length === 0) break
    for (const row of found) {
      last = row.id
      const defaultBranch = row.default_branch ?? undefined
      yield {
        ...nameOf(row),
        key: { repositoryId: row.id },
        defaultBranch,
        isEmpty: !defaultBranch,
      }
    }
  }
}

function nameOf(
  row: Awaited<ReturnType<typeof listWikisAndSnippetsAfter>>[number],
): Pick<Known, 'name' | 'title'> {
  const { project_id, group_id, snippet_id } = row
  if (project_id !== null) {
    const title = `${row.project_path}.wiki (${project_id})`
    return { name: { kind: 'project_wiki', id: project_id }, title }
  }
  if (group_id !== null) {
    const title = `${row.group_path}.wiki (group ${group_id})`
    return { name: { kind: 'group_wiki', id: group_id }, title }
  }
  return { name: { kind: 'snippet', id: snippet_id ?? 0 }, title: `snippet ${snippet_id}` }
}

async function oneRepository(
  ctx: Ctx,
  known: Known,
  manner: Manner,
  backup: BackupSource,
): Promise<Finding[]> {
  const name = `repository ${known.title}`
  const before = await look(ctx, known, manner)
  const mended = before.mended.map((text) => finding(name, 'ok', text))
  if (isWell(before)) return mended
  // It may have been deleted while we looked.
  if (before.isMissing && !(await isStillKnown(ctx.db, known))) return []
  if (!manner.mend) return [...mended, ...shown(name, before)]
  const done = await mendRepository(ctx, known, before, { backup, signal: manner.signal })
  const after = await look(ctx, known, manner)
  return [...mended, ...done.map((text) => finding(name, 'ok', text)), ...shown(name, after)]
}

/** What a look at one repository has found. */
export interface Looked {
  readonly isMissing: boolean
  readonly faults: readonly string[]
  readonly leftOver: readonly string[]
  readonly mended: readonly string[]
  readonly packs: readonly { readonly name: string }[]
  readonly lost: readonly string[]
  readonly refs: readonly RefFault[]
}

const missing: Looked = {
  isMissing: true,
  faults: ['is missing on disk'],
  leftOver: [],
  mended: [],
  packs: [],
  lost: [],
  refs: [],
}

async function look(ctx: Ctx, known: Known, manner: Manner): Promise<Looked> {
  if (!(await ctx.git.exists(known.name))) return missing
  const repo = ctx.git.open(known.name)
  const found = await findFaults(repo, { ...manner, defaultBranch: known.defaultBranch })
  // Without HEAD git takes the folder for no repository.
  const refs = found.hasHead ? await findRefFaults(ctx, known) : []
  return { ...found, isMissing: false, refs }
}

function isWell({ faults, leftOver, refs }: Looked): boolean {
  return faults.length === 0 && leftOver.length === 0 && refs.length === 0
}

function shown(name: string, { faults, leftOver, refs }: Looked): Finding[] {
  return [
    ...faults.map((text) => finding(name, 'failure', text)),
    ...leftOver.map((text) => finding(name, 'warning', text)),
    ...refs.map(({ kind, what }) => finding(name, kind === 'lost' ? 'failure' : 'warning', what)),
  ]
}

async function isStillKnown(db: Db, { key, name }: Known): Promise<boolean> {
  if ('projectId' in key) {
    const [found] = await listProjectsAfter(db, key.projectId - 1, 1)
    return found?.id === name
  }
  const [found] = await listWikisAndSnippetsAfter(db, key.repositoryId - 1, 1)
  return found?.id === key.repositoryId
}
