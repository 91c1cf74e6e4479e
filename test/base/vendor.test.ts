import { expect, test } from 'vitest'
import { vendorWords } from '../../src/base/vendor.ts'

test('our prefix comes first, the prefix of stock clients beside it', () => {
  const vendor = vendorWords('svc')
  expect(vendor.headers({ 'File-Name': 'a' })).toEqual({
    'X-Svc-File-Name': 'a',
    'X-Gitlab-File-Name': 'a',
  })
  expect(vendor.ciFiles).toEqual(['.svc-ci.yml', '.gitlab-ci.yml'])
  expect(vendor.jobDeployTokens).toEqual(['svc-deploy-token', 'gitlab-deploy-token'])
  expect(vendor.jobTokenUsers).toEqual(['svc-ci-token', 'gitlab-ci-token'])
  expect(vendor.variableNames('CI')).toEqual(['SVC_CI', 'GITLAB_CI'])
  expect(vendor.tokenPrefix('personal')).toBe('svcpat-')
  expect(vendor.deployTokenUser(5)).toBe('svc+deploy-token-5')
})

test('a header is read under either name', () => {
  const vendor = vendorWords('svc')
  expect(vendor.readHeader({ 'x-gitlab-event': 'Push' }, 'Event')).toBe('Push')
  expect(vendor.readHeader({ 'x-svc-event': ['Push'] }, 'Event')).toBe('Push')
  expect(vendor.readHeader({}, 'Event')).toBeUndefined()
})

test('the reference prefix alone gives each name once, and its own short token prefix', () => {
  const vendor = vendorWords('gitlab')
  expect(vendor.ciFiles).toEqual(['.gitlab-ci.yml'])
  expect(vendor.tokenPrefix('personal')).toBe('glpat-')
})
