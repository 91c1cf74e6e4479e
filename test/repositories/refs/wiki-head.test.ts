import { expect, test } from 'vitest'
import { actAs } from '../../../src/access/act-as.ts'
import type { Effects } from '../../../src/ctx.ts'
import { findRef, readHead } from '../../../src/git/refs/refs.ts'
import { noObject } from '../../../src/git/types.ts'
import { moveWith } from '../../../src/repositories/refs/move-refs.ts'
import { wikiOrSnippetUpdater } from '../../../src/repositories/refs/wiki-updater.ts'
import { ensureRepository } from '../../../src/repositories/wikis-and-snippets/repository.ts'
import { git } from '../../support/git.ts'
import { makeProject } from '../../support/git-client.ts'
import { openWorld } from '../../support/world.ts'

test('HEAD of a wiki names its first branch before the push is closed, after which no recovery would', async () => {
  const world = await openWorld()
  try {
    const ana = await world.user('ana')
    const { id } = await makeProject(world, ana, 'demo')
    const caller = await actAs(world.ctx, ana.id)
    const heads: (string | undefined)[] = []
    const wikiMoved: Effects['wikiMoved'] = [
      async (_ctx, { repo }) =>
        async () =>
          heads.push((await readHead(repo)).ref),
    ]
    const ctx = { ...caller, effects: { ...caller.effects, wikiMoved } }
    const row = await ensureRepository(ctx, { kind: 'project_wiki', id })
    const target = { ...row, refusal: undefined, check: async () => undefined }
    const updater = wikiOrSnippetUpdater(ctx, target)
    const { path } = updater.repo
    const tree = git(path, ['mktree'], { input: '' })
    const newId = git(path, ['commit-tree', '-m', 'one', tree])
    const move = { name: 'refs/heads/trunk', oldId: noObject, newId }
    await moveWith(ctx, updater, { via: 'system', moves: [move] })
    expect((await findRef(updater.repo, move.name))?.id).toBe(newId)
    expect(heads).toEqual([move.name])
  } finally {
    await world.close()
  }
})
