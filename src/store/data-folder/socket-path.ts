import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'

/** Paths of sockets may be no longer than some hundred bytes. */
const longest = 100

/** Uses the path of a socket in a data folder, by a short one that is good for as long as that takes. */
export async function withSocketPath<T>(
  path: { readonly data: string; readonly name: string },
  use: (path: string) => Promise<T>,
): Promise<T> {
  const whole = join(path.data, path.name)
  if (Buffer.byteLength(whole) <= longest) return await use(whole)
  const folder = openSync(path.data, 'r')
  try {
    return await use(`/proc/self/fd/${folder}/${path.name}`)
  } finally {
    closeSync(folder)
  }
}
