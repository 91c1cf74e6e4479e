import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'

/** How long a quick look may walk through the history of one repository, and then through its newest trees. */
const historyMs = 4000
const tipsMs = 15_000
const fsckMs = 300_000
/** So many are named of one repository. */
const mostNamed = 10
const anyCode = Array.from({ length: 256 }, (_, code) => code)
/** Commits are read where they lie: the graph of commits would hide that one is lost. */
const config = { 'core.commitGraph': 'false' }

/**
 * Objects that refs lead to and that are not there, one clause each that names the object and, where git knows it, the
 * branch and the file. `deep` reads every object. A quick look walks the whole history of a repository, or, where that
 * takes long, what the newest commits hold.
 */
export async function findLostObjects(
  repo: Repo,
  { deep, signal }: { readonly deep: boolean; readonly signal?: AbortSignal | undefined },
): Promise<string[]> {
  if (!deep && (await isConnected(repo, signal))) return []
  return await listLost(repo, deep, signal)
}

async function isConnected(repo: Repo, signal: AbortSignal | undefined): Promise<boolean> {
  const walk = ['rev-list', '--objects', '--quiet', '--all']
  const whole = await walked(repo, walk, historyMs, signal)
  if (whole !== 'late') return whole
  // What cannot be walked in that time is for `--fsck`.
  return (await walked(repo, [...walk, '--no-walk=unsorted'], tipsMs, signal)) !== false
}

async function walked(
  repo: Repo,
  args: readonly string[],
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<boolean | 'late'> {
  try {
    const { code } = await runGit({
      repo: repo.path,
      args,
      config,
      timeout,
      signal,
      accept: anyCode,
    })
    return code === 0
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error
    return error.code === 'timeout' ? 'late' : false
  }
}

async function listLost(
  repo: Repo,
  deep: boolean,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const extent = deep ? '--full' : '--connectivity-only'
  const args = ['fsck', extent, '--name-objects', '--no-dangling', '--no-progress']
  const timeout = deep ? 0 : fsckMs
  try {
    const options = { repo: repo.path, args, config, timeout, signal, accept: anyCode }
    const { code, stdout, stderr } = await runGit(options)
    const lines = `${stdout.toString('utf8')}${stderr}`.split('\n')
    const lost = [...new Set(lines.flatMap(inWords))]
    if (code === 0 && lost.length === 0) return []
    if (lost.length === 0) return [`git fsck ends with ${code}`]
    const more = lost.length - mostNamed
    return [
      ...lost.slice(0, mostNamed),
      ...(more > 0 ? [`${more} more objects are lost or damaged`] : []),
    ]
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error
    return [error.message]
  }
}

/** A line of `git fsck`: what another line reports already is left out. */
function inWords(line: string): string[] {
  const [, kind, id, name] = /^missing (\w+) ([0-9a-f]{40,64})(?: \((.*)\))?$/.exec(line) ?? []
  if (kind !== undefined) return [`the ${kind} ${id} is lost${name ? `, which is ${name}` : ''}`]
  const [, ref, at] = /^error: (\S+): invalid (?:sha1|sha256) pointer ([0-9a-f]+)$/.exec(line) ?? []
  // The check of refs reports an empty ref.
  if (ref !== undefined)
    return /^0+$/.test(at ?? '') ? [] : [`${ref} leads to ${at}, which is lost`]
  if (/^(?:broken link from| +to |notice: |dangling |$)/.test(line)) return []
  return [line.replace(/^(?:error|fatal): /, '')]
}

/** The objects that clauses of `findLostObjects` name. */
export function idsIn(clauses: readonly string[]): string[] {
  return [
    ...new Set(clauses.flatMap((text) => text.match(/\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/g) ?? [])),
  ]
}
