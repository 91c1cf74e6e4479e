import { every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import * as cleanup from './cleanup/endpoints.ts'
import { runCleanupPolicies } from './cleanup/run.ts'
import * as composer from './composer/endpoints.ts'
import * as conan from './conan/common-endpoints.ts'
import * as conanV1 from './conan/v1-endpoints.ts'
import * as conanV2 from './conan/v2-endpoints.ts'
import * as containerRegistry from './container-registry/endpoints.ts'
import * as imageTags from './container-registry/tag-endpoints.ts'
import { cleanForwardedFiles } from './forwarding/clean.ts'
import * as generic from './generic/endpoints.ts'
import * as go from './go/endpoints.ts'
import * as helm from './helm/endpoints.ts'
import { cleanUpImages, deleteTagsByPattern } from './image-cleanup/run.ts'
import * as imageProtection from './image-protection/endpoints.ts'
import * as images from './images/endpoints.ts'
import { collectImages } from './images/remove.ts'
import { deleteImageRepository } from './images/remove-tags.ts'
import * as imageToken from './images/token-endpoints.ts'
import * as imageUploads from './images/upload-endpoints.ts'
import * as management from './management/endpoints.ts'
import * as maven from './maven/endpoints.ts'
import { rewriteMavenMetadata } from './maven/rewrite-metadata.ts'
import * as npm from './npm/endpoints.ts'
import * as npmUnpublish from './npm/unpublish-endpoints.ts'
import * as nuget from './nuget/endpoints.ts'
import * as nugetV2 from './nuget/v2-endpoints.ts'
import * as protection from './protection/endpoints.ts'
import * as pypi from './pypi/endpoints.ts'
import { removeMarkedPackages } from './registry/remove.ts'
import * as settings from './settings/endpoints.ts'
import * as terraform from './terraform/endpoints.ts'
import * as virtualCache from './virtual-registry/cache-endpoints.ts'
import { cleanVirtualCaches } from './virtual-registry/clean.ts'
import { fitVirtualCaches } from './virtual-registry/fit.ts'
import * as virtualPolicy from './virtual-registry/policy-endpoints.ts'
import * as virtualRegistry from './virtual-registry/registry-endpoints.ts'
import * as virtualUpstreams from './virtual-registry/upstream-endpoints.ts'

export const packagesArea: Manifest = {
  name: 'packages',
  endpoints: endpointsOf({
    container_registry: [
      containerRegistry,
      imageProtection,
      images,
      imageTags,
      imageToken,
      imageUploads,
    ],
    packages: [
      cleanup,
      composer,
      conan,
      conanV1,
      conanV2,
      generic,
      go,
      helm,
      management,
      maven,
      npm,
      npmUnpublish,
      nuget,
      nugetV2,
      protection,
      pypi,
      settings,
      terraform,
    ],
    virtual_registries: [virtualCache, virtualPolicy, virtualRegistry, virtualUpstreams],
  }),
  tasks: [
    cleanForwardedFiles,
    cleanUpImages,
    cleanVirtualCaches,
    collectImages,
    deleteImageRepository,
    deleteTagsByPattern,
    fitVirtualCaches,
    removeMarkedPackages,
    rewriteMavenMetadata,
    runCleanupPolicies,
  ],
  schedules: [
    every(3_600_000, runCleanupPolicies, {}),
    every(3_600_000, cleanVirtualCaches, {}),
    every(3_600_000, fitVirtualCaches, {}),
    every(3_600_000, cleanForwardedFiles, {}),
    every(3_600_000, cleanUpImages, {}),
    every(86_400_000, collectImages, {}),
  ],
  migrations: [],
}
