import type { Project } from '../../access/subjects.ts'
import { unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { countCommits } from '../../git/history/count.ts'
import { readFileAt } from '../../git/history/file.ts'
import { readLog } from '../../git/history/log.ts'
import { lastTrailers, parseTrailers } from '../../git/history/trailers.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit, ObjectId } from '../../git/types.ts'
import { titleOf } from '../commits/entity.ts'
import { introducedBy } from '../commits/visible-introduced.ts'
import { defaultRef, projectUrl } from '../repository/access.ts'
import { ifFound } from '../repository/missing.ts'
import { type ChangelogConfig, defaultChangelogConfig } from './config.ts'
import { creditsOf } from './credits.ts'
import { type CategorizedEntry, entryTitle, withoutReverted } from './entries.ts'
import { ChangelogFailure } from './failure.ts'
import { runLimited } from './run-limited.ts'
import { renderSection, requestedVersion } from './section.ts'
import type { Version } from './version.ts'

export interface ChangelogInput {
  readonly version: string
  readonly from?: string | undefined
  /** The commit, or whatever names it, up to which changes count. */
  readonly to: string
  readonly date?: string | undefined
  readonly trailer: string
  readonly config_file?: string | undefined
  readonly config_file_ref?: string | undefined
}

/** Most commits of a range (docs/contract/B-resolved §1.8 rule 2). */
const MOST_COMMITS = 15_000
const LARGEST_CONFIG = 1024 * 1024
const PAGE = 1000

/** Runs a generation; its failures are 422 in the words of docs/contract/B-resolved §1.8 rule 2. */
export async function orUnprocessable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChangelogFailure)) throw error
    throw unprocessable(`Failed to generate the changelog: ${error.message}`)
  }
}

/** The section of a version, from the commits since the version before it. */
export async function generateSection(
  ctx: Ctx,
  project: Project,
  input: ChangelogInput,
  signal?: AbortSignal,
): Promise<{ readonly version: Version; readonly section: string }> {
  const version = requestedVersion(input.version)
  const repo = ctx.git.open(project.id)
  const config = await readConfig(ctx, project, repo, input)
  const from = input.from || (await findPrevious(repo, version, config))
  const commits = await listCommits(repo, from, input.to, signal)
  const kept = withoutReverted(commits).flatMap((commit) => {
    const trailers = lastTrailers(parseTrailers(commit.message))
    const category = trailers[input.trailer]
    return category === undefined ? [] : [{ commit, trailers, category }]
  })
  const introduced = kept.map(({ commit }) => commit)
  const credits = await creditsOf(ctx, project, introduced, config.includeGroups)
  const ids = introduced.map((commit) => commit.id)
  const mergeRequests = await introducedBy(ctx, project, ids)
  const entries = kept.map(({ commit, trailers, category }): CategorizedEntry => {
    const author = credits.get(commit.author.email.toLowerCase())
    const mergeRequest = mergeRequests.get(commit.id)
    const entry = {
      title: entryTitle(titleOf(commit)),
      commit: {
        reference: `${project.full_path}@${commit.id}`,
        web_url: `${projectUrl(ctx, project)}/-/commit/${commit.id}`,
        trailers,
      },
      ...(author ? { author } : {}),
      ...(mergeRequest
        ? {
            merge_request: { reference: mergeRequest.reference, web_url: mergeRequest.web_url },
          }
        : {}),
    }
    return { category, entry }
  })
  const date = input.date ?? ctx.now()
  return { version, section: await renderSection({ version, date, config, entries }) }
}

async function readConfig(
  ctx: Ctx,
  project: Project,
  repo: Repo,
  input: ChangelogInput,
): Promise<ChangelogConfig> {
  const ref = input.config_file_ref || defaultRef(project)
  const paths = input.config_file
    ? [input.config_file]
    : ctx.config.vendor.folders.map((folder) => `${folder}/changelog_config.yml`)
  for (const path of paths) {
    const options = { ref, path, contentUpTo: LARGEST_CONFIG }
    const file = await ifFound(readFileAt(repo, options))
    if (!file) continue
    if (!file.content) throw new ChangelogFailure(`${path} does not contain valid YAML`)
    return await runLimited('config', { text: file.content.toString('utf8'), path })
  }
  return defaultChangelogConfig
}

async function findPrevious(
  repo: Repo,
  requested: Version,
  config: ChangelogConfig,
): Promise<string> {
  const prefix = 'refs/tags/'
  const refs = await listRefs(repo, { prefix })
  const tags = refs.map((ref) => ref.name.slice(prefix.length))
  const found = await runLimited('previousTag', { tags, requested, pattern: config.tagPattern })
  if (found !== undefined) return `${prefix}${found}`
  throw new ChangelogFailure(
    'The commit start range is unspecified, and no previous tag could be found to use instead',
  )
}

async function listCommits(
  repo: Repo,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<Commit[]> {
  const revision = `${await commitOf(repo, from)}..${await commitOf(repo, to)}`
  const total = await countCommits(repo, { revision }, signal)
  if (total > MOST_COMMITS) {
    throw new ChangelogFailure(`The commits range exceeds ${MOST_COMMITS} elements.`)
  }
  const commits: Commit[] = []
  while (commits.length < total) {
    const options = { revision, skip: commits.length, limit: PAGE }
    const page = await readLog(repo, options, signal)
    commits.push(...page.commits)
    if (!page.more) break
  }
  return commits
}

async function commitOf(repo: Repo, revision: string): Promise<ObjectId> {
  const found = await ifFound(resolveRevision(repo, revision))
  if (found) return found.commitId
  throw new ChangelogFailure('Invalid or not found commit value in the given range')
}
