import { expect, test } from 'vitest'
import type { Ctx } from '../../../src/ctx.ts'
import { measureSize, refreshContent } from '../../../src/projects/projects/facts/measure.ts'
import { createProject } from '../../support/create.ts'
import { useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })

const newProject = async (name: string): Promise<number> =>
  (await createProject(world.root, name, { initialize_with_readme: true })).id

/** A ctx whose projects go just when their repositories are looked at. */
function goingCtx(): Ctx {
  const { ctx } = world
  const git = Object.create(ctx.git) as typeof ctx.git
  git.open = (id) => {
    const run = async () => {
      await ctx.db.deleteFrom('projects').where('id', '=', Number(id)).execute()
      throw new Error('no repository')
    }
    const repo = ctx.git.open(id)
    return { ...repo, engine: Object.assign(Object.create(repo.engine), { run }) }
  }
  return { ...ctx, git }
}

test('a project that goes while it is measured is no failure', async () => {
  expect(await refreshContent(goingCtx(), await newProject('content'))).toBe(undefined)
  expect(await measureSize(goingCtx(), await newProject('size'))).toBe(undefined)
})

test('a repository that cannot be measured is one, while its project is there', async () => {
  const id = await newProject('broken')
  const git = Object.create(world.ctx.git) as typeof world.ctx.git
  git.open = () => {
    throw new Error('damaged')
  }
  await expect(measureSize({ ...world.ctx, git }, id)).rejects.toThrow('damaged')
})
