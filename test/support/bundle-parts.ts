import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../../scripts/setup/bundle.mjs'
import { root } from '../../scripts/setup.mjs'

/** What programs that tests start, kill and start again take from the sources, by the compiled module. */
const parts = {
  'access/act-as.js': ['actAs'],
  'access/subjects.js': ['getVisibleProject'],
  'app.js': ['openApp'],
  'base/config.js': ['makeConfig'],
  'base/log.js': ['silentLog'],
  'repositories/refs/move-refs.js': ['moveRefs'],
  'review/merge-requests/merge/merge.js': ['mergeNow'],
}

/** Puts them into one file, which is loaded in half of the time, once for each compilation. */
export async function setup(): Promise<void> {
  const dist = join(root, 'dist')
  const file = join(dist, 'test-parts.cjs')
  if (existsSync(file)) return
  // Under its name it is always whole: two runs may be at it.
  const own = `test-parts-${process.pid}.cjs`
  await bundle(dist, own, parts)
  renameSync(join(dist, own), file)
}
