import type { RequestHandler } from 'express'
import { getHostBadge, hostBadgePath } from '../ci/badges/host-badges.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { hostAlertEndpoints } from '../monitoring/ingestion/endpoints.ts'
import { hostAlertPath } from '../monitoring/ingestion/host-path.ts'
import { hostFileEndpoints, hostFilePath } from '../projects/uploads/host-files.ts'
import { getHostAsset, hostAssetPath } from '../publishing/releases/host-assets.ts'
import { getHostWikiFile, hostWikiPath } from '../publishing/wikis/host-files.ts'
import { hostCodeEndpoints, hostCodePath } from '../repositories/files/host-code.ts'
import {
  getHostMergeRequestDiff,
  hostRequestPath,
} from '../review/merge-requests/diff/host-diff.ts'

/** What is served beside the API, at the host itself, by the same rules of access. */
export const hostPageEndpoints: readonly Endpoint[] = [
  ...hostFileEndpoints,
  getHostWikiFile,
  getHostAsset,
  ...hostCodeEndpoints,
  getHostMergeRequestDiff,
  getHostBadge,
  ...hostAlertEndpoints,
]

const readers = [
  hostWikiPath,
  hostFilePath,
  hostCodePath,
  hostAssetPath,
  hostRequestPath,
  hostBadgePath,
]
const postReaders = [hostAlertPath]

/** Gives paths that begin with a project's own, of any depth, the path of their endpoint. */
export function hostPages(): RequestHandler {
  return (request, _response, next) => {
    const mark = request.url.indexOf('?')
    const raw = mark < 0 ? request.url : request.url.slice(0, mark)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const known = isRead ? readers : request.method === 'POST' ? postReaders : []
    const path = known.map((read) => read(raw)).find((found) => found !== undefined)
    if (path !== undefined) request.url = path + request.url.slice(raw.length)
    next()
  }
}
