import { hostBadges } from '../ci/badges/host-badges.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { hostAlertEndpoints } from '../monitoring/ingestion/endpoints.ts'
import { hostFileEndpoints } from '../projects/uploads/host-files.ts'
import { getHostAsset } from '../publishing/releases/host-assets.ts'
import { hostWikiFiles } from '../publishing/wikis/host-files.ts'
import { hostCodeEndpoints } from '../repositories/files/host-code.ts'
import { hostMergeRequestDiffs } from '../review/merge-requests/diff/host-diff.ts'

/** What programs and pages ask for beside the API, at the host itself, by the same rules of access. */
export const hostEndpoints: readonly Endpoint[] = [
  ...hostFileEndpoints,
  ...hostWikiFiles,
  getHostAsset,
  ...hostCodeEndpoints,
  ...hostMergeRequestDiffs,
  ...hostBadges,
  ...hostAlertEndpoints,
]
