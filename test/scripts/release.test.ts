import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { obstacles, release } from '../../scripts/release/release.ts'
import { git } from '../support/git.ts'
import { newTestFolder } from '../support/test-folder.ts'

function clone(version: string, changelog: string): string {
  const root = join(newTestFolder(), 'clone')
  mkdirSync(root)
  writeFileSync(join(root, 'package.json'), JSON.stringify({ version }))
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  git(root, ['init', '-q', '-b', 'main'])
  for (const [key, value] of [
    ['user.name', 'Ana'],
    ['user.email', 'ana@example.com'],
  ] as const) {
    git(root, ['config', key, value])
  }
  git(root, ['add', '.'])
  git(root, ['commit', '-qm', 'Begin'])
  return root
}

const tags = (root: string) => git(root, ['tag', '--list'])

test('a release is checked, bundled and then tagged, with the version in the tag', () => {
  const root = clone('0.1.0', '# Changelog\n\n## 0.1.0\n\nFirst.\n')
  const steps: string[] = []
  const step = (name: string) => steps.push(`${name}, tags: ${tags(root)}`)
  const made = release(root, {
    check: () => step('check') > 0,
    bundle() {
      step('bundle')
      return ['archive']
    },
  })
  expect(made).toEqual({ tag: 'v0.1.0', files: ['archive'] })
  expect(steps).toEqual(['check, tags: ', 'bundle, tags: '])
  expect(git(root, ['cat-file', '-t', 'v0.1.0'])).toBe('tag')
  expect(git(root, ['rev-parse', 'v0.1.0^{commit}'])).toBe(git(root, ['rev-parse', 'HEAD']))
  expect(obstacles(root)).toEqual(['v0.1.0 is there already: raise the version in package.json'])
})

test('what is not committed, on another branch, or in no section of the changelog is not released', () => {
  const root = clone('0.1.0', '# Changelog\n\n## Unreleased\n')
  git(root, ['switch', '-qc', 'side'])
  writeFileSync(join(root, 'new'), '')
  const never = () => expect.unreachable()
  expect(() => release(root, { check: never, bundle: never })).toThrow(
    "releases are made of main, this is side; there are changes without a commit; CHANGELOG.md has no section '## 0.1.0'",
  )
  expect(tags(root)).toBe('')
})

test('nothing is tagged where the checks fail, or the bundle cannot be made', () => {
  const root = clone('0.1.0', '## 0.1.0\n')
  const never = () => expect.unreachable()
  expect(() => release(root, { check: () => false, bundle: never })).toThrow(
    'the checks have failed: nothing is released',
  )
  const fails = () => {
    throw new Error('no room')
  }
  expect(() => release(root, { check: () => true, bundle: fails })).toThrow('no room')
  expect(tags(root)).toBe('')
})
