import { isRefName } from '../../git/names.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'

/** Deeper names of branches are not looked for. */
const MOST_PARTS = 20

/**
 * The ref and the path that an address names in one line, such as `feature/one/src/a.txt`: the longest beginning that is
 * a branch or tag, otherwise its first part, which may be a commit.
 */
export async function splitRefPath(
  repo: Repo,
  text: string,
): Promise<{ readonly ref: string; readonly path: string }> {
  const parts = text.split('/')
  const isId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(parts[0] ?? '')
  for (let count = isId ? 0 : Math.min(parts.length, MOST_PARTS); count > 0; count -= 1) {
    const name = parts.slice(0, count).join('/')
    if (await isRef(repo, name)) return { ref: name, path: parts.slice(count).join('/') }
  }
  return { ref: parts[0] ?? '', path: parts.slice(1).join('/') }
}

async function isRef(repo: Repo, name: string): Promise<boolean> {
  for (const folder of ['refs/heads', 'refs/tags']) {
    const full = `${folder}/${name}`
    if (isRefName(full) && (await findRef(repo, full))) return true
  }
  return false
}
