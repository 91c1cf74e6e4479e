import { closeSync, fsync, openSync } from 'node:fs'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const sync = promisify(fsync)

/** What a repository's own `config` says; hooks come from the command that needs them. */
function repositoryConfig(objectFormat: 'sha1' | 'sha256', maxPushBytes: number): string {
  const sha256 = objectFormat === 'sha256'
  return `[core]
\trepositoryformatversion = ${sha256 ? 1 : 0}
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
\tfsync = objects,derived-metadata,reference
\tcommitGraph = true
\tmultiPackIndex = true
${sha256 ? '[extensions]\n\tobjectFormat = sha256\n' : ''}[gc]
\tauto = 0
[maintenance]
\tauto = false
[commitGraph]
\treadChangedPaths = true
[repack]
\twriteBitmaps = true
[pack]
\twriteBitmapHashCache = true
\twriteBitmapLookupTable = true
[transfer]
\tfsckObjects = true
\tadvertiseSID = false
\thideRefs = refs/keep-around
\thideRefs = refs/tmp
\thideRefs = refs/remotes
\thideRefs = refs/environments
[receive]
\tautogc = false
\tadvertisePushOptions = true
\tadvertiseAtomic = true
\tunpackLimit = 100
\tmaxInputSize = ${maxPushBytes}
\thideRefs = refs/merge-requests
\thideRefs = refs/pipelines
[uploadpack]
\tallowFilter = true
\tallowTipSHA1InWant = true
\tallowReachableSHA1InWant = true
[lsrefs]
\tunborn = advertise
`
}

/** Writes a bare repository without commits, with every file on disk when it returns. */
export async function layOut(
  path: string,
  options: {
    readonly defaultBranch: string
    readonly objectFormat?: 'sha1' | 'sha256' | undefined
  },
  maxPushBytes: number,
): Promise<void> {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    await mkdir(join(path, folder), { recursive: true })
  }
  const config = repositoryConfig(options.objectFormat ?? 'sha1', maxPushBytes)
  await writeFileSynced(join(path, 'config'), config)
  await writeFileSynced(join(path, 'HEAD'), `ref: refs/heads/${options.defaultBranch}\n`)
  for (const folder of ['objects', 'refs']) await syncFolder(join(path, folder))
}

/** Writes a file and waits until the disk has it. */
export function writeFileSynced(path: string, content: string): Promise<void> {
  return writeFile(path, content, { mode: 0o644, flush: true })
}

/** Makes new names in a folder last through a crash. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** As `syncFolder`, for one that git may take away once nothing is left in it. Only the disk is waited for. */
export async function syncUnlessGone(path: string): Promise<void> {
  let folder: number
  try {
    folder = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  try {
    await sync(folder)
  } finally {
    closeSync(folder)
  }
}
