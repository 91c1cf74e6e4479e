import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anyone, onProject } from '../../src/access/subjects.ts'
import { endpoint } from '../../src/http/endpoint.ts'
import { text } from '../../src/http/params.ts'
import { Router } from '../../src/http/router.ts'

const common = { summary: '', tags: [], response: z.string(), handler: () => 'x' } as const

const tree = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/tree',
  access: onProject('read_code'),
})
const self = endpoint({ ...common, method: 'GET', path: '/tokens/self', access: anyone() })
const one = endpoint({
  ...common,
  method: 'GET',
  path: '/tokens/:token_id',
  access: anyone(),
  params: { token_id: text() },
})
const archive = endpoint({
  ...common,
  method: 'GET',
  path: '/projects/:id/archive.:format',
  access: onProject('read_code'),
  params: { format: text() },
})
const rest = endpoint({
  ...common,
  method: 'PUT',
  path: '/files/*path',
  access: anyone(),
  params: { path: text() },
})
const within = endpoint({
  method: 'GET',
  path: '/modules/*module/@v/:version',
  summary: 'Within',
  tags: [],
  access: anyone(),
  params: { module: text(), version: text() },
  handler: () => undefined,
})
const router = new Router([tree, self, one, archive, rest, within])

function found(method: string, path: string) {
  const match = router.find(method, path)
  return match.kind === 'found' ? { path: match.endpoint.path, values: match.path } : match
}

describe('the router', () => {
  test('keeps an encoded slash inside one parameter', () => {
    expect(found('GET', '/projects/a%2Fb/tree')).toEqual({ path: tree.path, values: { id: 'a/b' } })
  })
  test('finds nothing for an unencoded path', () => {
    expect(found('GET', '/projects/a/b/tree')).toEqual({ kind: 'no_route' })
  })
  test('prefers a literal segment to a parameter', () => {
    expect(found('GET', '/tokens/self')).toMatchObject({ path: self.path })
    expect(found('GET', '/tokens/7')).toMatchObject({ path: one.path, values: { token_id: '7' } })
  })
  test('reads a parameter behind fixed text', () => {
    expect(found('GET', '/projects/1/archive.tar.gz')).toMatchObject({
      values: { id: '1', format: 'tar.gz' },
    })
  })
  test('gives the rest of a path to a star', () => {
    expect(found('PUT', '/files/a/b%20c')).toMatchObject({ values: { path: 'a/b c' } })
  })
  test('gives what is before a literal segment to a star that it follows', () => {
    expect(found('GET', '/modules/a/b/@v/c/@v/1')).toMatchObject({
      values: { module: 'a/b/@v/c', version: '1' },
    })
    expect(found('GET', '/modules/a/b/@v')).toEqual({ kind: 'no_route' })
    expect(found('GET', '/modules/@v/1')).toEqual({ kind: 'no_route' })
  })
  test('tells the methods of a path that does not know the one asked for', () => {
    expect(found('DELETE', '/tokens/7')).toEqual({
      kind: 'no_method',
      allow: ['GET', 'HEAD', 'OPTIONS'],
      isWritten: true,
    })
  })
  test('asks a star at the root only where no segment is written out, whatever the method', () => {
    const all = new Router([
      self,
      { ...self, path: '/*path' },
      { ...self, method: 'POST', path: '/api/graphql' },
    ])
    expect(all.find('GET', '/api/graphql')).toMatchObject({
      kind: 'no_method',
      allow: ['OPTIONS', 'POST'],
    })
    expect(all.find('GET', '/ana/demo')).toMatchObject({
      kind: 'found',
      path: { path: 'ana/demo' },
    })
    expect(all.find('POST', '/ana/demo')).toMatchObject({ kind: 'no_method', isWritten: false })
  })
  test('answers HEAD by GET', () => {
    expect(found('HEAD', '/tokens/self')).toMatchObject({ path: self.path })
  })
  test('finds nothing for a broken percent sequence or a NUL byte', () => {
    expect(found('GET', '/tokens/%zz')).toEqual({ kind: 'no_route' })
    expect(found('GET', '/tokens/%00')).toEqual({ kind: 'no_route' })
  })
})
