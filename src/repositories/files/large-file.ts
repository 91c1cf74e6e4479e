import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readBlob } from '../../git/objects/blob.ts'
import { LFS_POINTER_LIMIT, readLfsPointer } from '../../git/objects/lfs-pointer.ts'
import type { Repo } from '../../git/repo.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { findLfsObjects, isLfsOn } from '../lfs/objects.ts'
import { answerLargeFile } from '../lfs/serve-object.ts'

interface Asked {
  readonly ctx: Ctx
  readonly project: Project
  readonly repo: Repo
  readonly file: { readonly blobId: string; readonly size: number }
  readonly request: RequestFacts
  readonly headers: Readonly<Record<string, string>>
}

/** The large file that a file of the repository stands for; undefined when it stands for none that is here. */
export async function answerPointedFile(asked: Asked): Promise<Bytes | undefined> {
  const { ctx, project, repo, file, request, headers } = asked
  if (file.size >= LFS_POINTER_LIMIT || !isLfsOn(project)) return undefined
  const { content } = await readBlob(repo, file.blobId, {}, request.signal)
  const pointer = readLfsPointer(content)
  if (!pointer) return undefined
  const known = await findLfsObjects(ctx, project, [pointer.oid])
  return known.has(pointer.oid)
    ? await answerLargeFile(ctx, pointer.oid, request, headers)
    : undefined
}
