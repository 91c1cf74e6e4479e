import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRepository } from '../../../fixtures/repositories/build.ts'
import { GitError } from '../../../src/git/error.ts'
import { readFileAt } from '../../../src/git/history/file.ts'
import { readLog } from '../../../src/git/history/log.ts'
import { findMergeBases } from '../../../src/git/history/merge-base.ts'
import { readTree } from '../../../src/git/objects/tree.ts'
import { listTags } from '../../../src/git/refs/tags.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { git, repoAt } from '../../support/git.ts'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-damage-'))
const sound = join(folder, 'sound.git')
beforeAll(async () => {
  await buildRepository('merges', sound)
  git(sound, ['repack', '-adfq'])
  git(sound, ['pack-refs', '--all'])
  git(sound, ['commit-graph', 'write', '--reachable', '--changed-paths'])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Numbers that look random but are the same every time. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 0x100000000) * below)
  }
}

const questions: ((repo: Repo) => Promise<unknown>)[] = [
  (repo) => readLog(repo, { limit: 50 }),
  (repo) => readLog(repo, { limit: 50, path: 'README.md' }),
  (repo) => readLog(repo, { limit: 50, all: true, order: 'topo' }),
  (repo) => readTree(repo, { ref: 'HEAD', recursive: true }),
  (repo) => readFileAt(repo, { ref: 'HEAD', path: 'README.md' }),
  (repo) => listTags(repo, {}),
  (repo) => findMergeBases(repo, ['HEAD', 'HEAD~2']),
]

test.each(['pack', 'idx', 'commit-graph', 'packed-refs'])(
  'a damaged %s gives answers or errors of our own, never a crash',
  async (kind) => {
    const roll = dice(42)
    for (let round = 0; round < 8; round += 1) {
      const path = join(folder, `${kind}-${round}.git`)
      cpSync(sound, path, { recursive: true })
      const pack = readdirSync(join(path, 'objects/pack')).find((name) => name.endsWith(`.${kind}`))
      const files = { 'commit-graph': 'objects/info/commit-graph', 'packed-refs': 'packed-refs' }
      const file = join(path, pack ? `objects/pack/${pack}` : files[kind as keyof typeof files])
      chmodSync(file, 0o644)
      const bytes = readFileSync(file)
      if (round % 2 === 0) writeFileSync(file, bytes.subarray(0, roll(bytes.length)))
      else {
        for (let i = 0; i < round * 4; i += 1) bytes[roll(bytes.length)] = roll(256)
        writeFileSync(file, bytes)
      }
      const repo = repoAt(path)
      const results = await Promise.allSettled(questions.map((question) => question(repo)))
      const foreign = results.filter(
        (result) => result.status === 'rejected' && !(result.reason instanceof GitError),
      )
      expect(foreign).toEqual([])
    }
  },
)
