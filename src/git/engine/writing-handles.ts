import { asGitError, type NativeRepository, openNative } from './native.ts'
import type { OpenRepository } from './open-repository.ts'

/** Writes that go on at the same time: each waits for the disk, and others for its handle. */
const count = 6
const key = Symbol('handles for writing')

interface Handles {
  readonly open: Promise<NativeRepository>[]
  next: number
}

/** The next of the few handles for writing that a repository has. */
export function writingHandle(repository: OpenRepository): Promise<NativeRepository> {
  repository.assertEngine('native code')
  const handles = repository.keep<Handles>(key, () => ({ open: [], next: 0 }))
  const at = handles.next++ % count
  handles.open[at] ??= openNative(repository.path)
  return handles.open[at]
}

/** Maintenance takes a folder away as soon as it is empty, also one that was just made for what is written next. */
const attempts = 20

/** Writes by libgit2, again where a folder was taken away meanwhile. */
export async function persistently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      const found = asGitError(error)
      const isGone = found.code === 'failed' && /No such file or directory/.test(found.message)
      if (!isGone || attempt === attempts) throw found
    }
  }
}
