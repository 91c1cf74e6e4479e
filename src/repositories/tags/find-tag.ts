import { existing } from '../../base/problem.ts'
import { isTagName } from '../../git/names.ts'
import { findTag, type TagRef } from '../../git/refs/tags.ts'
import type { Repo } from '../../git/repo.ts'

/** A tag by name, or 404 `404 Tag Not Found`. */
export async function getTag(repo: Repo, name: string, signal?: AbortSignal): Promise<TagRef> {
  return existing(isTagName(name) ? await findTag(repo, name, signal) : undefined, 'Tag')
}
