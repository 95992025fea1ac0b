// Generated from the OpenAPI description by test/client/types.test.ts.

export interface paths {
  "/auth/device/code": {
    post: operations["requestDeviceCode"];
  };
  "/auth/device/token": {
    post: operations["exchangeDeviceCode"];
  };
  "/auth/revoke": {
    post: operations["revokeToken"];
  };
  "/me": {
    get: operations["getMe"];
  };
  "/me/quota": {
    get: operations["getQuota"];
  };
  "/events": {
    get: operations["streamEvents"];
  };
  "/search": {
    get: operations["search"];
  };
  "/search/v2": {
    get: operations["searchV2"];
  };
  "/relation-types": {
    get: operations["listRelationTypes"];
  };
  "/relations": {
    post: operations["createRelation"];
  };
  "/relations/{id}": {
    delete: operations["deleteRelation"];
  };
  "/documents/{id}/relations": {
    get: operations["listRelations"];
  };
  "/concepts": {
    get: operations["listConcepts"];
    post: operations["createConcept"];
  };
  "/concepts/{id}": {
    get: operations["getConcept"];
    patch: operations["updateConcept"];
  };
  "/concepts/{id}/sources": {
    post: operations["addConceptSource"];
  };
  "/concepts/{id}/relations": {
    post: operations["addConceptRelation"];
  };
  "/concepts/{id}/merge": {
    post: operations["mergeConcept"];
  };
  "/concepts/{id}/traverse": {
    get: operations["traverseConcept"];
  };
  "/concept-candidates": {
    get: operations["listConceptCandidates"];
  };
  "/concept-candidates/extract": {
    post: operations["extractConceptCandidates"];
  };
  "/concept-candidates/{id}/accept": {
    post: operations["acceptConceptCandidate"];
  };
  "/concept-candidates/{id}/reject": {
    post: operations["rejectConceptCandidate"];
  };
  "/documents/{id}/summary": {
    get: operations["getDocumentSummary"];
    put: operations["putDocumentSummary"];
  };
  "/documents/{id}/summary/rebuild": {
    post: operations["rebuildDocumentSummary"];
  };
  "/folders/{id}/summary": {
    get: operations["getFolderSummary"];
    put: operations["putFolderSummary"];
  };
  "/folders/{id}/summary/rebuild": {
    post: operations["rebuildFolderSummary"];
  };
  "/knowledge-bases/{id}/summary": {
    get: operations["getKnowledgeBaseSummary"];
    put: operations["putKnowledgeBaseSummary"];
  };
  "/knowledge-bases/{id}/summary/rebuild": {
    post: operations["rebuildKnowledgeBaseSummary"];
  };
  "/summary-jobs/{id}": {
    get: operations["getSummaryJob"];
  };
  "/knowledge-bases": {
    get: operations["listKnowledgeBases"];
    post: operations["createKnowledgeBase"];
  };
  "/knowledge-bases/{id}": {
    get: operations["getKnowledgeBase"];
    delete: operations["deleteKnowledgeBase"];
    patch: operations["renameKnowledgeBase"];
  };
  "/knowledge-bases/{id}/tree": {
    get: operations["getTree"];
  };
  "/knowledge-bases/{id}/tags": {
    get: operations["listTags"];
  };
  "/knowledge-bases/{id}/tags/{tag}": {
    delete: operations["deleteTag"];
    patch: operations["renameTag"];
  };
  "/knowledge-bases/{id}/export": {
    get: operations["exportKnowledgeBase"];
  };
  "/folders": {
    post: operations["createFolder"];
  };
  "/folders/{id}": {
    get: operations["getFolder"];
    delete: operations["deleteFolder"];
    patch: operations["updateFolder"];
  };
  "/folders/{id}/children": {
    get: operations["listFolderChildren"];
  };
  "/documents": {
    get: operations["listDocuments"];
    post: operations["createDocument"];
  };
  "/documents/{id}": {
    get: operations["getDocument"];
    delete: operations["deleteDocument"];
    patch: operations["updateDocument"];
  };
  "/documents/{id}/path": {
    get: operations["getDocumentPath"];
  };
  "/documents/{id}/duplicate": {
    post: operations["duplicateDocument"];
  };
  "/documents/read": {
    post: operations["readDocuments"];
  };
  "/documents/move": {
    post: operations["moveDocuments"];
  };
  "/documents/delete": {
    post: operations["deleteDocuments"];
  };
  "/documents/{id}/public-share": {
    post: operations["ensurePublicShare"];
  };
  "/public-shares": {
    get: operations["listPublicShares"];
  };
  "/public-shares/{id}": {
    delete: operations["deletePublicShare"];
    patch: operations["updatePublicShare"];
  };
  "/documents/{id}/content": {
    get: operations["getContent"];
    put: operations["replaceContent"];
  };
  "/documents/{id}/content/edit": {
    post: operations["editContent"];
  };
  "/documents/{id}/outline": {
    get: operations["getOutline"];
  };
  "/documents/{id}/read": {
    get: operations["readDocument"];
  };
  "/documents/{id}/versions": {
    get: operations["listVersions"];
  };
  "/documents/{id}/versions/{seq}/content": {
    get: operations["getVersionContent"];
  };
  "/documents/{id}/versions/{seq}/rollback": {
    post: operations["rollbackDocument"];
  };
  "/documents/{id}/diff": {
    get: operations["getDiff"];
  };
  "/documents/{id}/blocks": {
    get: operations["listBlocks"];
    post: operations["insertBlocks"];
  };
  "/documents/{id}/blocks/{blockId}": {
    get: operations["getBlock"];
    delete: operations["deleteBlock"];
    patch: operations["updateBlock"];
  };
  "/documents/{id}/batch": {
    post: operations["batchBlocks"];
  };
  "/documents/{id}/changes": {
    get: operations["listChanges"];
  };
  "/document-sets/{id}": {
    get: operations["getDocumentSet"];
  };
  "/documents/{id}/translations": {
    get: operations["listTranslations"];
    post: operations["addTranslation"];
  };
  "/documents/{id}/translation/activate": {
    post: operations["activateTranslation"];
  };
  "/documents/{id}/translation/deactivate": {
    post: operations["deactivateTranslation"];
  };
  "/documents/{id}/translations/{targetDocId}": {
    delete: operations["deleteTranslation"];
    patch: operations["updateTranslation"];
  };
  "/documents/{id}/translation-audit": {
    get: operations["listTranslationAudit"];
  };
  "/documents/{id}/translation-units": {
    get: operations["listTranslationUnits"];
  };
  "/documents/{id}/translation-units/{unitId}": {
    patch: operations["reviewTranslationUnit"];
  };
  "/documents/{id}/translations/{targetDocId}/prepare": {
    post: operations["prepareTranslation"];
  };
  "/documents/{id}/translation-jobs": {
    post: operations["createTranslationJob"];
  };
  "/translation-jobs/{id}": {
    get: operations["getTranslationJob"];
  };
  "/translation-jobs/{id}/apply": {
    post: operations["applyTranslationJob"];
  };
  "/attachments": {
    get: operations["listAttachments"];
    post: operations["createAttachment"];
  };
  "/attachments/{id}": {
    get: operations["getAttachment"];
    delete: operations["deleteAttachment"];
  };
  "/attachments/{id}/metadata": {
    get: operations["getAttachmentMetadata"];
  };
  "/trash": {
    get: operations["listTrash"];
  };
  "/trash/{id}/restore": {
    post: operations["restoreFromTrash"];
  };
  "/trash/{id}": {
    delete: operations["purgeFromTrash"];
  };
  "/audit": {
    get: operations["listAudit"];
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    AcceptedCandidate: {
      candidate: components["schemas"]["ConceptCandidate"];
      concept: components["schemas"]["Concept"];
    };
    AppendEdit: {
      op: "append";
      markdown: string;
      section?: string;
    };
    AppliedEdit: {
      index: number;
      block_ids: string[];
      count: number;
    };
    Attachment: {
      id: string;
      document_id: string;
      filename: string;
      content_type: string;
      size: number;
      sha256: string;
      url: string;
      referenced: boolean;
      created_at: number;
      created_by: string | null;
    };
    Audit: {
      id: string;
      action: string;
      user_id: string;
      token_id: string;
      client: {
        name: string | null;
        version: string | null;
      };
      document_id: string | null;
      created_at: number;
      details: {
        method: string;
        path: string;
        request_id: string;
        is_agent: boolean;
      };
    };
    BatchInput: {
      base_version?: string;
      operations: components["schemas"]["BatchOperation"][];
    };
    BatchOperation: components["schemas"]["InsertOperation"] | components["schemas"]["ReplaceOperation"] | components["schemas"]["DeleteOperation"];
    BatchResult: {
      document_id: string;
      version: string;
      applied: number;
      results: {
        index: number;
        op: "insert" | "replace" | "delete";
        block_ids: string[];
      }[];
      warnings: components["schemas"]["Warning"][];
    };
    Block: {
      block_id: string;
      document_id: string;
      uri: string;
      type: string;
      attrs: {
        [key: string]: unknown;
      };
      text: string;
      node: components["schemas"]["TiptapNode"];
      position: number;
      depth: number;
      parent_block_id: string | null;
      heading_path: string[];
      hash: string;
      version: string;
    };
    BlockAnchor: {
      block_id: string;
      lines: number[];
    };
    BlockChange: {
      op: "added" | "removed" | "modified" | "moved";
      block_id: string;
      type: string;
      text_excerpt: string;
      hash: string | null;
      old_position: number | null;
      new_position: number | null;
      moved?: boolean;
      cursor: string;
      source_version: string;
      changed_at: number;
    };
    BlockDeleted: {
      document_id: string;
      version: string;
      deleted_block_id: string;
    };
    BlockDifference: {
      op: "added" | "removed" | "modified" | "moved";
      block_id: string;
      old_position: number | null;
      new_position: number | null;
      before: components["schemas"]["TiptapNode"] | null;
      after: components["schemas"]["TiptapNode"] | null;
      hunks?: components["schemas"]["InlineHunk"][];
      children?: components["schemas"]["TextblockDifference"][];
    };
    BlockInsertInput: {
      position: components["schemas"]["BlockPosition"];
      nodes: components["schemas"]["TiptapNodeInput"][];
    };
    BlockManifestEntry: {
      block_id: string;
      position: number;
      type: string;
      hash: string;
      text_excerpt: string;
    };
    BlockPatchInput: {
      node?: components["schemas"]["TiptapNodeInput"];
      attrs?: {
        [key: string]: unknown;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    };
    BlockPosition: {
      document_start?: unknown;
      document_end?: unknown;
      before_block_id?: string;
      after_block_id?: string;
      parent_block_id?: string;
      after_heading?: string;
    };
    BlockRange: {
      start_position: number;
      end_position: number;
      start_block_id: string;
      end_block_id: string;
      block_count: number;
    };
    BlocksInserted: {
      document_id: string;
      version: string;
      block_ids: string[];
      blocks: components["schemas"]["Block"][];
    };
    BodyProblem: {
      path: string;
      reason: string;
      block_id?: string;
      operation_index?: number;
    };
    CandidateAcceptInput: {
      concept_id?: string;
      reason?: string;
    };
    CandidateRejectInput: {
      reason?: string;
    };
    ChangedSource: {
      provided: string;
      current_version: string;
    };
    CheckEdit: {
      op: "check";
      block_id: string;
      checked?: boolean;
      if_match?: string;
    };
    ChildNode: components["schemas"]["FolderNode"] | components["schemas"]["DocumentNode"];
    Concept: {
      id: string;
      uri: string;
      knowledge_base_id: number;
      name: string;
      normalized_name: string;
      description: string | null;
      aliases: string[];
      alias_objects: components["schemas"]["ConceptAlias"][];
      labels: components["schemas"]["ConceptLabel"][];
      status: "active" | "merged" | "archived";
      version: string;
      canonical_document_id: string | null;
      merged_into_concept_id: string | null;
      created_at: number;
      updated_at: number;
      requested_id?: string;
      relations: components["schemas"]["ConceptRelation"][];
      merge_history: components["schemas"]["ConceptMerge"][];
    };
    ConceptAlias: {
      id: string;
      alias: string;
      normalized_alias: string;
      origin: "manual" | "candidate" | "merge";
    };
    ConceptCandidate: {
      id: string;
      knowledge_base_id: number;
      name: string;
      normalized_name: string;
      document_id: string;
      block_id: string | null;
      source_version: string;
      current_version: string | null;
      excerpt: string;
      freshness: "current" | "stale" | "dangling_document" | "dangling_block";
      extractor: "title" | "link_anchor";
      extractor_version: string;
      fingerprint: string;
      review_status: "pending" | "accepted" | "rejected";
      reviewed_at: number | null;
      reviewed_by: string | null;
      review_reason: string | null;
      concept_id: string | null;
      suggested_concept_id: string | null;
      version: string;
      created_at: number;
      updated_at: number;
    };
    ConceptCreateInput: {
      knowledge_base_id: number | string;
      name: string;
      description?: string | null;
      aliases?: string[];
      labels?: {
        locale: string;
        name: string;
        description?: string | null;
      }[];
      canonical_document_id?: string | null;
      source_document_id?: string;
      source_block_id?: string | null;
      source_version?: string;
      source_excerpt?: string;
      sources?: components["schemas"]["ConceptEvidenceInput"][];
      valid_from?: number;
      valid_to?: number;
    };
    ConceptEvidence: {
      document_id: string;
      block_id: string | null;
      source_version: string | null;
      current_version: string | null;
      excerpt: string | null;
      freshness: "current" | "stale" | "dangling_evidence_document" | "dangling_evidence_block" | "dangling_document" | "dangling_block" | "unanchored";
    };
    ConceptEvidenceInput: {
      document_id: string;
      block_id?: string | null;
      source_version?: string;
      excerpt?: string;
      valid_from?: number;
      valid_to?: number;
    };
    ConceptLabel: {
      locale: string;
      name: string;
      description: string | null;
      origin: "manual" | "candidate" | "merge";
      created_by: string | null;
      created_at: number;
      updated_at: number;
    };
    ConceptMerge: {
      concept_id: string;
      name: string;
      merged_at: number;
      merged_by: string | null;
      reason: string | null;
    };
    ConceptMergeInput: {
      target_concept_id: string;
      target_version?: string;
      reason?: string;
    };
    ConceptRelation: {
      id: string;
      subject_concept_id: string;
      predicate: "alias_of" | "broader_than" | "related_to" | "evidenced_by";
      object: {
        kind: "concept" | "document" | "block";
        id: string;
        block_id: string | null;
        uri: string;
      };
      temporal_status: "current" | "future" | "expired";
      origin: "manual" | "candidate";
      evidence: components["schemas"]["ConceptEvidence"] | null;
      valid_from: number | null;
      valid_to: number | null;
    };
    ConceptRelationInput: {
      predicate: "alias_of" | "broader_than" | "related_to" | "evidenced_by";
      object: {
        kind: "concept" | "document" | "block";
        id: string;
        block_id?: string | null;
      };
      evidence?: {
        document_id: string;
        block_id?: string | null;
        source_version?: string;
        excerpt?: string;
      };
      valid_from?: number;
      valid_to?: number;
    };
    ConceptSummary: {
      id: string;
      uri: string;
      knowledge_base_id: number;
      name: string;
      normalized_name: string;
      description: string | null;
      aliases: string[];
      alias_objects: components["schemas"]["ConceptAlias"][];
      labels: components["schemas"]["ConceptLabel"][];
      status: "active" | "merged" | "archived";
      version: string;
      canonical_document_id: string | null;
      merged_into_concept_id: string | null;
      created_at: number;
      updated_at: number;
    };
    ConceptUpdateInput: {
      name?: string;
      description?: string | null;
      aliases?: string[];
      labels?: {
        locale: string;
        name: string;
        description?: string | null;
      }[];
      canonical_document_id?: string | null;
      status?: "active" | "archived";
    };
    ConceptWithRelation: {
      id: string;
      uri: string;
      knowledge_base_id: number;
      name: string;
      normalized_name: string;
      description: string | null;
      aliases: string[];
      alias_objects: components["schemas"]["ConceptAlias"][];
      labels: components["schemas"]["ConceptLabel"][];
      status: "active" | "merged" | "archived";
      version: string;
      canonical_document_id: string | null;
      merged_into_concept_id: string | null;
      created_at: number;
      updated_at: number;
      requested_id?: string;
      relations: components["schemas"]["ConceptRelation"][];
      merge_history: components["schemas"]["ConceptMerge"][];
      relation_id: string;
    };
    ConfirmInput: {
      confirm_id?: string | number;
    };
    Content: {
      document_id: string;
      document_uri: string;
      format: "tiptap-json" | "markdown" | "html";
      version: string;
      updated_at: number;
      document?: components["schemas"]["TiptapDocument"];
      content?: string;
      warnings: components["schemas"]["Warning"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
    };
    ContentInput: components["schemas"]["MarkdownContentInput"] | components["schemas"]["TiptapContentInput"];
    CreatedDocument: {
      id: string;
      uri: string;
      title: string;
      document_type: "document" | "spreadsheet";
      workspace_id: string;
      knowledge_base_id: number;
      folder_id: number | null;
      heading_numbered: boolean;
      background_color: string | null;
      collapsed_block_ids: string[];
      tags: string[];
      properties: {
        [key: string]: string | number | boolean | string[];
      };
      version: string;
      character_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      updated_by: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      workflow_status: ("draft" | "in_review" | "published") | null;
      translation_freshness: "current" | "outdated" | "unknown";
      translated_from_document_id: string | null;
      translated_from_version: string | null;
      warnings: components["schemas"]["Warning"][];
    };
    DeleteBlockEdit: {
      op: "delete_block";
      block_id: string;
      if_match?: string;
    };
    DeleteOperation: {
      op: "delete";
      block_id: string;
      if_match?: string;
    };
    DeviceCode: {
      device_code: string;
      user_code: string;
      verification_uri: string;
      verification_uri_complete: string;
      expires_in: number;
      interval: number;
    };
    DeviceToken: {
      access_token: string;
      token_type: "Bearer";
      token_id: string;
      scope: string;
      scopes: ("documents:read" | "documents:write" | "knowledge-bases:read" | "knowledge-bases:write" | "attachments:read" | "attachments:write" | "concepts:read" | "concepts:write" | "summaries:generate")[];
      expires_in: number;
      expires_at: number;
    };
    Document: {
      id: string;
      uri: string;
      title: string;
      document_type: "document" | "spreadsheet";
      workspace_id: string;
      knowledge_base_id: number;
      folder_id: number | null;
      heading_numbered: boolean;
      background_color: string | null;
      collapsed_block_ids: string[];
      tags: string[];
      properties: {
        [key: string]: string | number | boolean | string[];
      };
      version: string;
      character_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      updated_by: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      workflow_status: ("draft" | "in_review" | "published") | null;
      translation_freshness: "current" | "outdated" | "unknown";
      translated_from_document_id: string | null;
      translated_from_version: string | null;
    };
    DocumentChanges: {
      document_id: string;
      cursor: string | null;
      source_version: string | null;
      freshness: "current" | "stale" | "missing";
      complete: boolean;
      sync_required: boolean;
      baseline: boolean;
      manifest?: components["schemas"]["BlockManifestEntry"][];
      changes: components["schemas"]["BlockChange"][];
      has_more: boolean;
      next_cursor: string | null;
    };
    DocumentCreateInput: {
      title: string;
      id?: string;
      knowledge_base_id?: number | string;
      folder_id?: (number | string) | null;
      document_type?: "document" | "spreadsheet";
      heading_numbered?: boolean;
      background_color?: string | null;
      collapsed_block_ids?: string[];
      tags?: string[];
      properties?: {
        [key: string]: string | number | boolean | string[];
      };
      content?: components["schemas"]["ContentInput"];
    };
    DocumentDifference: {
      document_id: string;
      from: {
        seq: number | "current";
        version: string;
      };
      to: {
        seq: number | "current";
        version: string;
      };
      format?: "markdown";
      blocks?: components["schemas"]["BlockDifference"][];
      content?: string;
    };
    DocumentNode: {
      type: "document";
      id: string;
      title: string;
      document_type: "document" | "spreadsheet";
      folder_id: number | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      document_set_id: string | null;
      updated_at: number;
    };
    DocumentOutline: {
      document_id: string;
      version: string;
      block_count: number;
      heading_count: number;
      preamble: components["schemas"]["BlockRange"] | null;
      sections: components["schemas"]["OutlineSection"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
    };
    DocumentPath: {
      document_id: string;
      knowledge_base: {
        id: number;
        name: string;
      };
      folders: {
        id: number;
        name: string;
      }[];
      path: components["schemas"]["PathEntry"][];
      path_text: string;
    };
    DocumentRead: {
      document_id: string;
      document_uri?: string;
      version: string;
      view: "markdown" | "tiptap-json" | "plain-text" | "outline";
      range?: {
        from_position: number;
        to_position: number;
        start_block_id: string;
        end_block_id: string;
        block_count: number;
      };
      estimated_tokens?: number;
      max_tokens?: number;
      budget_exceeded?: boolean;
      truncated?: boolean;
      omitted_ranges?: {
        from_position: number;
        to_position: number;
      }[];
      has_more?: boolean;
      next_cursor?: string | null;
      content?: string;
      document?: components["schemas"]["TiptapDocument"];
      sections?: components["schemas"]["OutlineSection"][];
      warnings?: components["schemas"]["Warning"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
    };
    DocumentRelation: {
      id: string;
      predicate: "refers_to" | "supports" | "depends_on" | "contradicts";
      origin: "inline" | "manual";
      source: components["schemas"]["RelationEndpoint"];
      target: components["schemas"]["RelationEndpoint"];
      anchor_text: string;
      source_version: string;
      evidence_freshness: "current" | "stale";
      projection_freshness: "current" | "stale";
      status: "valid" | "dangling_source_document" | "dangling_source_block" | "dangling_target_document" | "dangling_target_block";
      created_at: number;
      created_by: string | null;
    };
    DocumentSet: {
      id: string;
      uri: string;
      source_document_id: string;
      source_locale: string;
      fallback_locale: string;
      available_locales: string[];
      source: components["schemas"]["LocalizedDocument"] | null;
      variants: components["schemas"]["LocalizedDocument"][];
    };
    DocumentSetOf: {
      document_set_id?: string;
    };
    DocumentUpdateInput: {
      title?: string;
      knowledge_base_id?: number | string;
      folder_id?: (number | string) | null;
      heading_numbered?: boolean;
      background_color?: string | null;
      collapsed_block_ids?: string[];
      tags?: string[];
      properties?: {
        [key: string]: string | number | boolean | string[];
      };
      tags_patch?: {
        add?: string[];
        remove?: string[];
      };
      properties_patch?: {
        [key: string]: string | number | boolean | string[] | null;
      };
      position?: ("first" | "last") | {
        before?: string | number;
        after?: string | number;
      };
    };
    DocumentVersion: {
      seq: number;
      created_at: number;
      created_by: string | null;
      size: number;
    };
    DocumentsDeleteInput: {
      ids: string[];
    };
    DocumentsMoveInput: {
      ids: string[];
      knowledge_base_id?: number | string;
      folder_id?: number | string;
    };
    DocumentsMoved: {
      ids: string[];
    };
    DocumentsReadInput: {
      ids: string[];
      view?: "markdown" | "tiptap-json" | "plain-text" | "outline";
      max_tokens?: number;
    };
    DuplicateInput: {
      title?: string;
      knowledge_base_id?: number | string;
      folder_id?: (number | string) | null;
    };
    ExtractInput: {
      document_id: string;
    };
    Extraction: {
      document_id: string;
      source_version: string;
      extractor_version: string;
      created: number;
      refreshed: number;
      skipped_rejected: number;
      skipped_accepted: number;
      candidates: components["schemas"]["ConceptCandidate"][];
    };
    Folder: {
      id: number;
      knowledge_base_id: number;
      parent_id: number | null;
      name: string;
      created_at: number;
      updated_at: number;
      created_by: string | null;
    };
    FolderCreateInput: {
      name: string;
      knowledge_base_id?: number | string;
      parent_id?: (number | string) | null;
    };
    FolderNode: {
      type: "folder";
      id: number;
      name: string;
      parent_id: number | null;
    };
    FolderUpdateInput: {
      name?: string;
      knowledge_base_id?: number | string;
      parent_id?: (number | string) | null;
      position?: ("first" | "last") | {
        before?: string | number;
        after?: string | number;
      };
    };
    Freshness: {
      search: "current" | "stale" | "missing";
      changes: "current" | "stale" | "missing";
      relations: "current" | "stale" | "missing";
      summary: "current" | "stale" | "missing";
    };
    InlineHunk: {
      op: "equal" | "insert" | "delete";
      text: string;
      marks?: components["schemas"]["TiptapMark"][];
      node?: components["schemas"]["TiptapNode"];
    };
    InsertEdit: {
      op: "insert";
      markdown: string;
      before_block_id?: string;
      after_block_id?: string;
      parent_block_id?: string;
    };
    InsertOperation: {
      op: "insert";
      position: components["schemas"]["BlockPosition"];
      nodes: components["schemas"]["TiptapNodeInput"][];
    };
    InvalidFields: {
      fields: {
        path: string;
        message: string;
      }[];
    };
    KnowledgeBase: {
      id: number;
      workspace_id: string;
      name: string;
      document_count: number;
      folder_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
    };
    KnowledgeBaseTag: {
      tag: string;
      document_count: number;
    };
    LocalizationActivateInput: {
      source_locale: string;
      target_locales?: string[];
      create_mode?: "blank" | "copy_structure";
    };
    LocalizedDocument: {
      id: string;
      title: string;
      locale: string;
      variant_role: "source" | "translation";
      workflow_status: "draft" | "in_review" | "published";
      document_set_id: string;
      document_set_uri: string;
      translation_freshness: "current" | "outdated" | "unknown";
      translation_status_counts?: {
        ignored: number;
        current: number;
        missing: number;
        conflict: number;
        source_changed: number;
        manually_edited: number;
        machine_translated: number;
      };
      translated_from_document_id: string | null;
      translated_from_version: string | null;
    };
    MarkdownContentInput: {
      format: "markdown";
      content: string;
    };
    Me: {
      user: {
        id: string;
        email: string;
        name: string;
      };
      scopes: ("documents:read" | "documents:write" | "knowledge-bases:read" | "knowledge-bases:write" | "attachments:read" | "attachments:write" | "concepts:read" | "concepts:write" | "summaries:generate")[];
      token_id: string;
      workspaces: {
        id: string;
        name: string;
        role: "owner" | "editor" | "viewer";
      }[];
      expires_at: number | null;
      client_name: string | null;
      collaboration_url: string;
    };
    MissingResource: {
      id: string | number | null;
      field?: string;
    };
    NameInput: {
      name: string;
    };
    OutlineSection: {
      block_id: string | null;
      level: number;
      title: string;
      heading_path: string[];
      parent_block_id: string | null;
      start_position: number;
      end_position: number;
      start_block_id: string;
      end_block_id: string;
      block_count: number;
    };
    PathEntry: {
      id: number | string;
      name: string;
      type: "knowledge_base" | "folder" | "document";
    };
    PrependEdit: {
      op: "prepend";
      markdown: string;
      section?: string;
    };
    PublicShare: {
      document_id: string;
      share_id: string;
      url: string;
      access: "read";
      comments_enabled: false;
      expires_at: number | null;
      has_password: boolean;
      view_count: number;
      last_viewed_at: number | null;
      created_at: number;
      created_by: string | null;
    };
    ReadDocument: {
      id: string;
      document_id: string;
      document_uri?: string;
      version: string;
      view: "markdown" | "tiptap-json" | "plain-text" | "outline";
      range?: {
        from_position: number;
        to_position: number;
        start_block_id: string;
        end_block_id: string;
        block_count: number;
      };
      estimated_tokens?: number;
      max_tokens?: number;
      budget_exceeded?: boolean;
      truncated?: boolean;
      omitted_ranges?: {
        from_position: number;
        to_position: number;
      }[];
      has_more?: boolean;
      next_cursor?: string | null;
      content?: string;
      document?: components["schemas"]["TiptapDocument"];
      sections?: components["schemas"]["OutlineSection"][];
      warnings?: components["schemas"]["Warning"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
      freshness: components["schemas"]["Freshness"];
    };
    RelationCreateInput: {
      source_document_id: string;
      source_block_id: string;
      target_uri: string;
      predicate?: "refers_to" | "supports" | "depends_on" | "contradicts";
      anchor_text?: string;
    };
    RelationEndpoint: {
      uri: string;
      document_id: string;
      block_id: string | null;
      document: {
        id: string;
        title: string;
      } | null;
    };
    RelationType: {
      predicate: "refers_to" | "supports" | "depends_on" | "contradicts";
      description: string;
      inverse_label: string;
      origins: ("inline" | "manual")[];
    };
    ReplaceBlockEdit: {
      op: "replace_block";
      block_id: string;
      markdown: string;
      if_match?: string;
    };
    ReplaceEdit: {
      op: "replace";
      find: string;
      replace: string;
      occurrence?: "only" | "first" | "all";
      block_id?: string;
      match_case?: boolean;
      if_match?: string;
    };
    ReplaceOperation: {
      op: "replace";
      block_id: string;
      node: components["schemas"]["TiptapNodeInput"];
      if_match?: string;
    };
    ResolvedDocument: {
      id: string;
      uri: string;
      title: string;
      document_type: "document" | "spreadsheet";
      workspace_id: string;
      knowledge_base_id: number;
      folder_id: number | null;
      heading_numbered: boolean;
      background_color: string | null;
      collapsed_block_ids: string[];
      tags: string[];
      properties: {
        [key: string]: string | number | boolean | string[];
      };
      version: string;
      character_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      updated_by: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      workflow_status: ("draft" | "in_review" | "published") | null;
      translation_freshness: "current" | "outdated" | "unknown";
      translated_from_document_id: string | null;
      translated_from_version: string | null;
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
    };
    RestoreInput: {
      folder_id?: (number | string) | null;
      knowledge_base_id?: number | string;
    };
    RestoredDocument: {
      id: string;
      uri: string;
      title: string;
      document_type: "document" | "spreadsheet";
      workspace_id: string;
      knowledge_base_id: number;
      folder_id: number | null;
      heading_numbered: boolean;
      background_color: string | null;
      collapsed_block_ids: string[];
      tags: string[];
      properties: {
        [key: string]: string | number | boolean | string[];
      };
      version: string;
      character_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      updated_by: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      workflow_status: ("draft" | "in_review" | "published") | null;
      translation_freshness: "current" | "outdated" | "unknown";
      translated_from_document_id: string | null;
      translated_from_version: string | null;
      not_restored: ("public_share" | "document_set" | "translation_units")[];
    };
    RestoredFolder: {
      id: number;
      knowledge_base_id: number;
      parent_id: number | null;
      name: string;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      not_restored: ("public_share" | "document_set" | "translation_units")[];
    };
    RestoredKnowledgeBase: {
      id: number;
      workspace_id: string;
      name: string;
      document_count: number;
      folder_count: number;
      created_at: number;
      updated_at: number;
      created_by: string | null;
      not_restored: ("public_share" | "document_set" | "translation_units")[];
    };
    RestoredResource: components["schemas"]["RestoredDocument"] | components["schemas"]["RestoredFolder"] | components["schemas"]["RestoredKnowledgeBase"];
    RolledBackContent: {
      document_id: string;
      document_uri: string;
      format: "tiptap-json" | "markdown" | "html";
      version: string;
      updated_at: number;
      document?: components["schemas"]["TiptapDocument"];
      content?: string;
      warnings: components["schemas"]["Warning"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
      restored_seq: number;
    };
    SearchProjection: {
      watermark: string;
      document_count: number;
      current_document_count: number;
      stale_document_count: number;
      stale_document_ids: string[];
      freshness: "current" | "stale";
      complete: boolean;
    };
    SearchResult: {
      document_id: string;
      title: string;
      knowledge_base_id: number;
      folder_id: number | null;
      document_type: string;
      block_id: string | null;
      matched_in: "title" | "content";
      snippet: string | null;
      updated_at: number | null;
      locale: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      highlights?: number[][];
      more_in_document?: number;
    };
    SearchV2Response: {
      query: string;
      mode: "topk" | "exhaustive";
      results: components["schemas"]["SearchV2Result"][];
      page: {
        has_more: boolean;
        next_cursor: string | null;
      };
      projection: components["schemas"]["SearchProjection"];
      suggestion?: string | null;
    };
    SearchV2Result: {
      document_id: string;
      document_uri: string;
      title: string;
      knowledge_base_id: number;
      folder_id: number | null;
      document_type: string;
      locale: string | null;
      document_set_id: string | null;
      document_set_uri: string | null;
      path: components["schemas"]["PathEntry"][];
      path_text: string;
      block_id: string | null;
      block_type: string | null;
      position: number | null;
      matched_in: "title" | "content";
      heading_path: string[];
      context: {
        before: string | null;
        match: string;
        after: string | null;
      };
      highlights?: number[][];
      match_count: number;
      score: number;
      score_explanation: {
        model: "bm25-1";
        field: "title" | "heading" | "body";
        field_weight: number;
        relaxed: boolean;
        exact: boolean;
        terms: {
          term: string;
          occurrences: number;
          weight: number;
        }[];
      };
      source_version: string;
      indexed_version: string;
      freshness: "current";
      indexed_at: number;
      updated_at: number;
      more_in_document?: number;
      summary?: components["schemas"]["Summary"];
    };
    Summary: {
      target: {
        type: "section" | "document" | "folder" | "knowledge_base";
        id: string | number;
        block_id: string | null;
      };
      text: string;
      status: "fallback" | "ready" | "query";
      generator: "deterministic" | "manual" | "model";
      freshness: "current" | "stale";
      pinned: boolean;
      summary_version: number;
      source_version: string;
      current_source_version: string;
      source_block_ids: string[];
      source_document_ids: string[];
      coverage: {
        ratio: number;
        covered_blocks: number;
        total_blocks: number;
        covered_documents: number;
        total_documents: number;
        truncated: boolean;
      };
      model: string | null;
      query: string | null;
      pending_job_id: string | null;
      updated_at: number | null;
      updated_by: string | null;
    };
    SummaryInput: {
      text: string;
      base_source_version?: string;
      pinned?: boolean;
      source_block_ids?: string[];
    };
    SummaryJob: {
      id: string;
      status: "pending" | "running" | "succeeded" | "failed" | "obsolete";
      target: {
        type: "section" | "document" | "folder" | "knowledge_base";
        id: string | number;
        block_id: string | null;
      };
      generator: "model";
      source_version: string;
      base_summary_version: number;
      result_summary_version: number | null;
      model: string;
      usage: {
        input_tokens: number;
        output_tokens: number;
      } | null;
      error: {
        code: "model_error" | "model_timeout" | "model_bad_output" | "access_revoked" | "document_too_large";
        message: string;
      } | null;
      obsolete_reason: ("source_changed" | "pinned" | "summary_changed" | "target_deleted") | null;
      created_at: number;
      started_at: number | null;
      finished_at: number | null;
      attempt: number;
      next_attempt_at: number | null;
      last_error: {
        code: "model_error" | "model_timeout" | "model_bad_output" | "service_unavailable" | "internal_error";
        message: string;
      } | null;
    };
    SummaryRebuildInput: {
      generator?: "deterministic" | "model";
      base_source_version?: string;
    };
    TagUpdateInput: {
      tag: string;
    };
    TextEdit: components["schemas"]["ReplaceEdit"] | components["schemas"]["AppendEdit"] | components["schemas"]["PrependEdit"] | components["schemas"]["InsertEdit"] | components["schemas"]["ReplaceBlockEdit"] | components["schemas"]["DeleteBlockEdit"] | components["schemas"]["CheckEdit"];
    TextEditInput: {
      edits: components["schemas"]["TextEdit"][];
      base_version?: string;
    };
    TextEditResult: {
      document_id: string;
      version: string;
      applied: components["schemas"]["AppliedEdit"][];
      warnings: components["schemas"]["Warning"][];
    };
    TextblockDifference: {
      block_id: string;
      hunks: components["schemas"]["InlineHunk"][];
    };
    TiptapContentInput: {
      format: "tiptap-json";
      document: components["schemas"]["TiptapDocumentInput"];
    };
    TiptapDocument: {
      type: "doc";
      content: components["schemas"]["TiptapNode"][];
    };
    TiptapDocumentInput: {
      type: "doc";
      content?: components["schemas"]["TiptapNodeInput"][];
    };
    TiptapMark: {
      type: "bold";
    } | {
      type: "italic";
    } | {
      type: "strike";
    } | {
      type: "code";
    } | {
      type: "underline";
    } | {
      type: "subscript";
    } | {
      type: "superscript";
    } | {
      type: "highlight";
      attrs?: {
        color?: string | null;
      };
    } | {
      type: "textStyle";
      attrs?: {
        color?: string | null;
      };
    } | {
      type: "link";
      attrs: {
        href: string;
        title?: string | null;
        target?: string | null;
        rel?: string | null;
      };
    };
    TiptapNode: {
      type: "paragraph";
      attrs: {
        id: string;
        textAlign?: ("left" | "center" | "right" | "justify") | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "heading";
      attrs: {
        id: string;
        level?: number | null;
        textAlign?: ("left" | "center" | "right" | "justify") | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "blockquote";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "bulletList";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "orderedList";
      attrs: {
        id: string;
        start?: number | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "listItem";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "taskList";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "taskItem";
      attrs: {
        id: string;
        checked?: boolean | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "codeBlock";
      attrs: {
        id: string;
        language?: string | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "horizontalRule";
      attrs: {
        id: string;
      };
    } | {
      type: "image";
      attrs: {
        id: string;
        attachmentId?: string | null;
        src?: string | null;
        alt?: string | null;
        title?: string | null;
        width?: number | null;
        height?: number | null;
      };
    } | {
      type: "callout";
      attrs: {
        id: string;
        kind?: ("note" | "tip" | "important" | "warning" | "caution") | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "details";
      attrs: {
        id: string;
        open?: boolean | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "detailsSummary";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "detailsContent";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "blockMath";
      attrs: {
        id: string;
        latex: string;
      };
    } | {
      type: "footnoteDefinition";
      attrs: {
        id: string;
        label: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "frontmatter";
      attrs: {
        id: string;
        yaml: string;
      };
    } | {
      type: "htmlBlock";
      attrs: {
        id: string;
        html: string;
      };
    } | {
      type: "table";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "tableRow";
      attrs: {
        id: string;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "tableCell";
      attrs: {
        id: string;
        colspan?: number | null;
        rowspan?: number | null;
        colwidth?: number[] | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "tableHeader";
      attrs: {
        id: string;
        colspan?: number | null;
        rowspan?: number | null;
        colwidth?: number[] | null;
      };
      content?: components["schemas"]["TiptapNode"][];
    } | {
      type: "text";
      text: string;
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "hardBreak";
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "inlineImage";
      attrs?: {
        attachmentId?: string | null;
        src?: string | null;
        alt?: string | null;
        title?: string | null;
        width?: number | null;
        height?: number | null;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "inlineMath";
      attrs: {
        latex: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "footnoteReference";
      attrs: {
        label: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "htmlInline";
      attrs: {
        html: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "mention";
      attrs: {
        id: string;
        label?: string | null;
      };
      marks?: components["schemas"]["TiptapMark"][];
    };
    TiptapNodeInput: {
      type: "paragraph";
      attrs?: {
        id?: string | null;
        textAlign?: ("left" | "center" | "right" | "justify") | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "heading";
      attrs?: {
        id?: string | null;
        level?: number | null;
        textAlign?: ("left" | "center" | "right" | "justify") | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "blockquote";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "bulletList";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "orderedList";
      attrs?: {
        id?: string | null;
        start?: number | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "listItem";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "taskList";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "taskItem";
      attrs?: {
        id?: string | null;
        checked?: boolean | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "codeBlock";
      attrs?: {
        id?: string | null;
        language?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "horizontalRule";
      attrs?: {
        id?: string | null;
      };
    } | {
      type: "image";
      attrs?: {
        id?: string | null;
        attachmentId?: string | null;
        src?: string | null;
        alt?: string | null;
        title?: string | null;
        width?: number | null;
        height?: number | null;
      };
    } | {
      type: "callout";
      attrs?: {
        id?: string | null;
        kind?: ("note" | "tip" | "important" | "warning" | "caution") | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "details";
      attrs?: {
        id?: string | null;
        open?: boolean | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "detailsSummary";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "detailsContent";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "blockMath";
      attrs: {
        id?: string | null;
        latex: string;
      };
    } | {
      type: "footnoteDefinition";
      attrs: {
        id?: string | null;
        label: string;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "frontmatter";
      attrs: {
        id?: string | null;
        yaml: string;
      };
    } | {
      type: "htmlBlock";
      attrs: {
        id?: string | null;
        html: string;
      };
    } | {
      type: "table";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "tableRow";
      attrs?: {
        id?: string | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "tableCell";
      attrs?: {
        id?: string | null;
        colspan?: number | null;
        rowspan?: number | null;
        colwidth?: number[] | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "tableHeader";
      attrs?: {
        id?: string | null;
        colspan?: number | null;
        rowspan?: number | null;
        colwidth?: number[] | null;
      };
      content?: components["schemas"]["TiptapNodeInput"][];
    } | {
      type: "text";
      text: string;
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "hardBreak";
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "inlineImage";
      attrs?: {
        attachmentId?: string | null;
        src?: string | null;
        alt?: string | null;
        title?: string | null;
        width?: number | null;
        height?: number | null;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "inlineMath";
      attrs: {
        latex: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "footnoteReference";
      attrs: {
        label: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "htmlInline";
      attrs: {
        html: string;
      };
      marks?: components["schemas"]["TiptapMark"][];
    } | {
      type: "mention";
      attrs: {
        id: string;
        label?: string | null;
      };
      marks?: components["schemas"]["TiptapMark"][];
    };
    TranslationApplied: {
      job_id: string;
      document_id: string;
      version: string;
      applied: {
        unit_id: string;
        target_block_ids: string[];
      }[];
      skipped: {
        unit_id: string;
        reason: "already_applied" | "manually_edited" | "current" | "conflict" | "ignored" | "not_translated";
      }[];
    };
    TranslationApplyInput: {
      unit_ids?: string[];
      base_target_version?: string;
    };
    TranslationAuditRecord: {
      id: string;
      action: string;
      document_set_id: string;
      source_document_id: string;
      target_document_id: string | null;
      locale: string | null;
      unit_id: string | null;
      job_id: string | null;
      actor: {
        user_id: string | null;
        token_id: string | null;
        client_name: string | null;
        client_version: string | null;
        is_agent: boolean;
      };
      details: {
        [key: string]: unknown;
      };
      created_at: number;
    };
    TranslationCreateInput: {
      locale: string;
      create_mode?: "blank" | "copy_structure";
    };
    TranslationJob: {
      id: string;
      status: "pending" | "succeeded" | "failed" | "obsolete";
      document_set_id: string;
      source_document_id: string;
      target_document_id: string;
      source_locale: string;
      target_locale: string;
      source_version: string;
      target_version: string;
      unit_ids: string[];
      unit_count: number;
      remaining_unit_count: number;
      result: {
        units: {
          unit_id: string;
          status: "translated" | "skipped" | "failed";
          source_hash: string;
          target_text: string | null;
          reason: string | null;
          applied_at: number | null;
        }[];
        translated: number;
        skipped: number;
        failed: number;
      } | null;
      usage: {
        input_characters: number;
        output_characters: number;
        estimated_cost: number | null;
      };
      model: string | null;
      error: {
        code: string;
        message: string;
      } | null;
      obsolete_reason: ("source_changed" | "document_deleted") | null;
      created_at: number;
      started_at: number | null;
      finished_at: number | null;
      applied_at: number | null;
      attempt: number;
      next_attempt_at: number | null;
      last_error: {
        code: "model_error" | "model_timeout" | "model_bad_output" | "service_unavailable" | "internal_error";
        message: string;
      } | null;
    };
    TranslationJobInput: {
      target_locale?: string;
      unit_ids?: string[];
    };
    TranslationPrepareInput: {
      align?: "by_position" | "none";
    };
    TranslationPrepared: {
      document_set_id: string;
      target_document_id: string;
      source_version: string;
      target_version: string;
      unit_count: number;
      mapped: number;
      status_counts: {
        ignored: number;
        current: number;
        missing: number;
        conflict: number;
        source_changed: number;
        manually_edited: number;
        machine_translated: number;
      };
    };
    TranslationUnit: {
      id: string;
      document_set_id: string;
      source_document_id: string;
      target_document_id: string;
      source_locale: string;
      target_locale: string;
      source_block_id: string;
      block_type: "paragraph" | "heading";
      position: number;
      source_text: string;
      source_hash: string;
      source_version: string;
      target_version: string;
      target_blocks: {
        block_id: string;
        type: string;
        text: string;
      }[];
      target_block_ids: string[];
      target_text: string | null;
      status: "ignored" | "current" | "missing" | "conflict" | "source_changed" | "manually_edited" | "machine_translated";
      freshness: "current" | "outdated" | "unknown";
      origin: ("machine" | "manual") | null;
      reviewed_at: number | null;
      reviewed_by: string | null;
      created_at: number;
      updated_at: number;
    };
    TranslationUnitReviewInput: {
      target_document_id: string;
      review_status: "current" | "ignored";
      target_block_ids?: string[];
    };
    TranslationUpdateInput: {
      title?: string;
      workflow_status?: "draft" | "in_review" | "published";
    };
    TrashEntry: {
      id: string;
      type: "document" | "folder" | "knowledge_base";
      resource_id: string | number;
      name: string;
      path_text: string;
      document_count: number;
      deleted_at: number;
      deleted_by: string | null;
      expires_at: number;
    };
    TraversedRelation: {
      id: string;
      subject_concept_id: string;
      predicate: "alias_of" | "broader_than" | "related_to" | "evidenced_by";
      object: {
        kind: "concept" | "document" | "block";
        id: string;
        block_id: string | null;
        uri: string;
      };
      temporal_status: "current" | "future" | "expired";
      origin: "manual" | "candidate";
      evidence: components["schemas"]["ConceptEvidence"] | null;
      valid_from: number | null;
      valid_to: number | null;
      direction: "outgoing" | "incoming";
    };
    Tree: {
      knowledge_base: components["schemas"]["KnowledgeBase"];
      children: (components["schemas"]["TreeFolder"] | components["schemas"]["TreeDocument"])[];
      summary?: components["schemas"]["Summary"];
    };
    TreeDocument: {
      type: "document";
      id: string;
      title: string;
      document_type: "document" | "spreadsheet";
      folder_id: number | null;
      locale: string | null;
      variant_role: ("source" | "translation") | null;
      document_set_id: string | null;
      updated_at: number;
      summary?: components["schemas"]["Summary"];
    };
    TreeFolder: {
      type: "folder";
      id: number;
      name: string;
      parent_id: number | null;
      children: (components["schemas"]["TreeFolder"] | components["schemas"]["TreeDocument"])[];
      summary?: components["schemas"]["Summary"];
    };
    UnreadDocument: {
      id: string;
      error: {
        code: string;
        message: string;
      };
    };
    VersionConflict: {
      provided: string;
      current_version: string;
      current_hash?: string;
      field?: string;
      changed_block_ids?: string[];
      operation_index?: number;
      block_id?: string;
    };
    VersionContent: {
      document_id: string;
      document_uri: string;
      format: "tiptap-json" | "markdown" | "html";
      version: string;
      updated_at: number;
      document?: components["schemas"]["TiptapDocument"];
      content?: string;
      warnings: components["schemas"]["Warning"][];
      requested_locale?: string;
      resolved_locale?: string | null;
      fallback_used?: boolean;
      seq: number;
    };
    Warning: {
      code: string;
      message: string;
      block_id: string | null;
      count?: number;
    };
    WorkspaceQuota: {
      workspace_id: string;
      limits: {
        knowledge_bases: number;
        documents: number;
        folders: number;
        attachment_bytes: number;
        document_characters: number;
        translation_characters_per_day: number;
      };
      usage: {
        knowledge_bases: number;
        documents: number;
        folders: number;
        attachment_bytes: number;
        translation_characters_today: number;
      };
      translation_resets_at: number;
    };
    Error: {
      error: {
        type: "request_error" | "authentication_error" | "permission_error" | "rate_limit_error" | "service_error";
        code: "invalid_request" | "invalid_json" | "invalid_grant" | "authorization_pending" | "slow_down" | "expired_token" | "access_denied" | "invalid_scope" | "invalid_cursor" | "invalid_idempotency_key" | "invalid_last_event_id" | "confirm_id_mismatch" | "cross_workspace_move" | "folder_knowledge_base_mismatch" | "cursor_sort_mismatch" | "invalid_precondition" | "precondition_mismatch" | "invalid_query" | "invalid_locale" | "missing_token" | "invalid_token" | "token_expired" | "token_revoked" | "insufficient_scope" | "forbidden" | "public_share_disabled" | "route_not_found" | "knowledge_base_not_found" | "folder_not_found" | "document_not_found" | "block_not_found" | "section_not_found" | "version_not_found" | "relation_not_found" | "concept_not_found" | "candidate_not_found" | "document_set_not_found" | "translation_not_found" | "unit_not_found" | "job_not_found" | "share_not_found" | "attachment_not_found" | "workspace_not_found" | "tag_not_found" | "trash_not_found" | "not_localized" | "method_not_allowed" | "version_conflict" | "text_not_found" | "text_ambiguous" | "idempotency_key_reused" | "idempotency_in_progress" | "read_cursor_stale" | "search_cursor_stale" | "search_cursor_invalid" | "parent_missing" | "document_id_conflict" | "relation_exists" | "concept_relation_exists" | "inline_relation" | "folder_cycle" | "concept_self_relation" | "concept_relation_cycle" | "concept_self_merge" | "concept_name_conflict" | "concept_merged" | "concept_not_active" | "evidence_changed" | "candidate_source_changed" | "source_version_changed" | "translation_source_changed" | "candidate_already_reviewed" | "summary_pinned" | "localization_already_active" | "localization_not_active" | "cannot_delete_source" | "source_document_missing" | "locale_exists" | "translations_exist" | "job_not_succeeded" | "attachment_referenced" | "quota_exceeded" | "payload_too_large" | "attachment_too_large" | "unsupported_media_type" | "heading_not_found" | "invalid_node" | "invalid_block_id" | "duplicate_block_id" | "block_id_mismatch" | "invalid_position" | "duplicate_block_anchor" | "invalid_markdown_anchor" | "document_too_large" | "documents_unavailable" | "self_relation" | "cross_knowledge_base" | "not_a_heading_block" | "nothing_to_translate" | "invalid_translation" | "precondition_required" | "rate_limited" | "too_many_streams" | "translation_quota_exceeded" | "internal_error" | "model_unavailable" | "service_unavailable";
        message: string;
        details?: {
          [key: string]: unknown;
        };
        documentation_url: string;
      };
      request_id: string;
    };
    Page: {
      cursor: string | null;
      next_cursor: string | null;
      has_more: boolean;
    };
  };
  responses: never;
  parameters: {
    RequestId: string;
    IdempotencyKey: string;
    Prefer: string;
    IfMatch: string;
    RequiredIfMatch: string;
    IfNoneMatch: string;
    LastEventId: number;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  requestDeviceCode: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody?: {
      content: {
        "application/json": {
          client_name?: string | null;
          scopes?: (string | string[]) | null;
        };
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeviceCode"];
            request_id: string;
          };
        };
      };
    };
  };
  exchangeDeviceCode: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": {
          device_code: string;
        };
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DeviceToken"];
            request_id: string;
          };
        };
      };
    };
  };
  revokeToken: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": {
          token: string;
        };
      };
    };
    responses: {
      204: {
      };
    };
  };
  getMe: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Me"];
            request_id: string;
          };
        };
      };
    };
  };
  getQuota: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["WorkspaceQuota"];
            request_id: string;
          };
        };
      };
    };
  };
  streamEvents: {
    parameters: {
      query?: {
        document_set_id?: string;
        locale?: string;
      };
      header?: {
        "Last-Event-ID"?: components["parameters"]["LastEventId"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "text/event-stream": string;
        };
      };
    };
  };
  search: {
    parameters: {
      query: {
        q: string;
        knowledge_base_id?: number | string;
        folder_id?: number | string;
        document_id?: string;
        updated_by?: string;
        updated_after?: string;
        updated_before?: string;
        tag?: string[];
        property?: {
          [key: string]: string;
        };
        block_type?: ("title" | "heading" | "paragraph" | "codeBlock" | "table" | "listItem")[];
        sort?: "relevance" | "updated_at";
        group_by?: "document";
        per_document?: number;
        limit?: number;
        syntax?: "plain" | "operators";
        highlight?: boolean;
        wait_ms?: number;
        typing?: boolean;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["SearchResult"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  searchV2: {
    parameters: {
      query: {
        q: string;
        knowledge_base_id?: number | string;
        folder_id?: number | string;
        document_id?: string;
        updated_by?: string;
        updated_after?: string;
        updated_before?: string;
        tag?: string[];
        property?: {
          [key: string]: string;
        };
        block_type?: ("title" | "heading" | "paragraph" | "codeBlock" | "table" | "listItem")[];
        sort?: "relevance" | "updated_at";
        group_by?: "document";
        per_document?: number;
        limit?: number;
        syntax?: "plain" | "operators";
        highlight?: boolean;
        wait_ms?: number;
        mode?: "topk" | "exhaustive";
        cursor?: string;
        typing?: boolean;
        locale?: string;
        include_summary?: boolean;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["SearchV2Response"];
            request_id: string;
          };
        };
      };
    };
  };
  listRelationTypes: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RelationType"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  createRelation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RelationCreateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentRelation"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  deleteRelation: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  listRelations: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        direction?: "outgoing" | "incoming" | "both";
        predicate?: "refers_to" | "supports" | "depends_on" | "contradicts";
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentRelation"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  listConcepts: {
    parameters: {
      query: {
        knowledge_base_id: number | string;
        document_id?: string;
        q?: string;
        status?: "active" | "archived" | "merged" | "all";
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ConceptSummary"][];
            page: components["schemas"]["Page"];
            complete: boolean;
            request_id: string;
          };
        };
      };
    };
  };
  createConcept: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ConceptCreateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Concept"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  getConcept: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Concept"];
            request_id: string;
          };
        };
      };
    };
  };
  updateConcept: {
    parameters: {
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["ConceptUpdateInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Concept"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  addConceptSource: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ConceptEvidenceInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["ConceptWithRelation"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  addConceptRelation: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ConceptRelationInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["ConceptWithRelation"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  mergeConcept: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ConceptMergeInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Concept"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  traverseConcept: {
    parameters: {
      query?: {
        at?: number;
        direction?: "outgoing" | "incoming" | "both";
        predicate?: "alias_of" | "broader_than" | "related_to" | "evidenced_by";
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TraversedRelation"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  listConceptCandidates: {
    parameters: {
      query: {
        knowledge_base_id: number | string;
        candidate_id?: string;
        document_id?: string;
        review_status?: "pending" | "accepted" | "rejected" | "all";
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ConceptCandidate"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  extractConceptCandidates: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ExtractInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Extraction"];
            request_id: string;
          };
        };
      };
    };
  };
  acceptConceptCandidate: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["CandidateAcceptInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["AcceptedCandidate"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              candidate: {
                id: string;
                version: string;
              };
              concept: {
                id: string;
                version: string;
              };
            };
          };
        };
      };
    };
  };
  rejectConceptCandidate: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["CandidateRejectInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ConceptCandidate"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  getDocumentSummary: {
    parameters: {
      query?: {
        block_id?: string;
        query?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
        };
      };
    };
  };
  putDocumentSummary: {
    parameters: {
      query?: {
        block_id?: string;
      };
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SummaryInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
    };
  };
  rebuildDocumentSummary: {
    parameters: {
      query?: {
        block_id?: string;
      };
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["SummaryRebuildInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
      202: {
        content: {
          "application/json": {
            data: components["schemas"]["SummaryJob"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  getFolderSummary: {
    parameters: {
      query?: {
        query?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
        };
      };
    };
  };
  putFolderSummary: {
    parameters: {
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SummaryInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
    };
  };
  rebuildFolderSummary: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["SummaryRebuildInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
      202: {
        content: {
          "application/json": {
            data: components["schemas"]["SummaryJob"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  getKnowledgeBaseSummary: {
    parameters: {
      query?: {
        query?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
        };
      };
    };
  };
  putKnowledgeBaseSummary: {
    parameters: {
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SummaryInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
    };
  };
  rebuildKnowledgeBaseSummary: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["SummaryRebuildInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Summary"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              target: {
                type: "section" | "document" | "folder" | "knowledge_base";
                id: string | number;
                block_id: string | null;
              };
              summary_version: number;
            };
          };
        };
      };
      202: {
        content: {
          "application/json": {
            data: components["schemas"]["SummaryJob"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  getSummaryJob: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["SummaryJob"];
            request_id: string;
          };
        };
      };
    };
  };
  listKnowledgeBases: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBase"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  createKnowledgeBase: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NameInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBase"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: number;
            };
          };
        };
      };
    };
  };
  getKnowledgeBase: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBase"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteKnowledgeBase: {
    parameters: {
      query?: {
        confirm_id?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["ConfirmInput"];
      };
    };
    responses: {
      204: {
      };
    };
  };
  renameKnowledgeBase: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["NameInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBase"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: number;
            };
          };
        };
      };
    };
  };
  getTree: {
    parameters: {
      query?: {
        include_summary?: boolean;
        sort?: "name" | "updated_at" | "manual";
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Tree"];
            request_id: string;
          };
        };
      };
    };
  };
  listTags: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBaseTag"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteTag: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
        tag: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  renameTag: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
        tag: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TagUpdateInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["KnowledgeBaseTag"];
            request_id: string;
          };
        };
      };
    };
  };
  exportKnowledgeBase: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/zip": unknown;
        };
      };
    };
  };
  createFolder: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FolderCreateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Folder"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: number;
            };
          };
        };
      };
    };
  };
  getFolder: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Folder"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteFolder: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      204: {
      };
    };
  };
  updateFolder: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["FolderUpdateInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Folder"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: number;
            };
          };
        };
      };
    };
  };
  listFolderChildren: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        sort?: "name" | "updated_at" | "manual";
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ChildNode"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  listDocuments: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        q?: string;
        knowledge_base_id?: number | string;
        folder_id?: number | string;
        updated_since?: string;
        sort?: "updated_at";
        locale?: string;
        tag?: string[];
        property?: {
          [key: string]: string;
        };
        include_variants?: boolean;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Document"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  createDocument: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DocumentCreateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["CreatedDocument"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  getDocument: {
    parameters: {
      query?: {
        locale?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["ResolvedDocument"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteDocument: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  updateDocument: {
    parameters: {
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["DocumentUpdateInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Document"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  getDocumentPath: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentPath"];
            request_id: string;
          };
        };
      };
    };
  };
  duplicateDocument: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["DuplicateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Document"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  readDocuments: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DocumentsReadInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: (components["schemas"]["ReadDocument"] | components["schemas"]["UnreadDocument"])[];
            request_id: string;
          };
        };
      };
    };
  };
  moveDocuments: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DocumentsMoveInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentsMoved"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteDocuments: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DocumentsDeleteInput"];
      };
    };
    responses: {
      204: {
      };
    };
  };
  ensurePublicShare: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": {
          expires_at?: number | null;
          password?: string;
        };
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["PublicShare"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              share_id: string;
            };
          };
        };
      };
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["PublicShare"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              share_id: string;
            };
          };
        };
      };
    };
  };
  listPublicShares: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        knowledge_base_id?: number | string;
        document_id?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["PublicShare"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  deletePublicShare: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  updatePublicShare: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": {
          expires_at?: number | null;
          password?: string | null;
        };
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["PublicShare"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              share_id: string;
            };
          };
        };
      };
    };
  };
  getContent: {
    parameters: {
      query?: {
        format?: "tiptap-json" | "markdown" | "html";
        annotate?: "anchors";
        front_matter?: boolean;
        locale?: string;
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Content"];
            request_id: string;
          };
        };
      };
    };
  };
  replaceContent: {
    parameters: {
      query?: {
        annotate?: "anchors";
        ids?: "strict" | "match";
        dry_run?: boolean;
      };
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ContentInput"];
        "application/vnd.svc.document+json": components["schemas"]["ContentInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Content"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  editContent: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TextEditInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TextEditResult"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  getOutline: {
    parameters: {
      query?: {
        locale?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentOutline"];
            request_id: string;
          };
        };
      };
    };
  };
  readDocument: {
    parameters: {
      query?: {
        view?: "markdown" | "tiptap-json" | "plain-text" | "outline";
        around?: string;
        max_tokens?: number;
        context_before?: number;
        context_after?: number;
        annotate?: "anchors" | "hashes";
        cursor?: string;
        locale?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentRead"];
            request_id: string;
          };
        };
      };
    };
  };
  listVersions: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentVersion"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  getVersionContent: {
    parameters: {
      query?: {
        format?: "tiptap-json" | "markdown" | "html";
        annotate?: "anchors";
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        seq: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["VersionContent"];
            request_id: string;
          };
        };
      };
    };
  };
  rollbackDocument: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        seq: number;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RolledBackContent"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  getDiff: {
    parameters: {
      query?: {
        from?: string;
        to?: string;
        format?: "json" | "markdown";
        ids?: "strict" | "match";
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentDifference"];
            request_id: string;
          };
        };
      };
    };
  };
  listBlocks: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        recursive?: boolean;
      };
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Block"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  insertBlocks: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BlockInsertInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["BlocksInserted"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  getBlock: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        blockId: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Block"];
            request_id: string;
          };
        };
      };
    };
  };
  deleteBlock: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        blockId: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BlockDeleted"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  updateBlock: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: {
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        blockId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["BlockPatchInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Block"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  batchBlocks: {
    parameters: {
      query?: {
        dry_run?: boolean;
      };
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match"?: components["parameters"]["IfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["BatchInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["BatchResult"] & {
              diff?: components["schemas"]["DocumentDifference"];
            };
            request_id: string;
          };
          "return=minimal": {
            data: {
              document_id: string;
              version: string;
              changed_block_ids: string[];
              warnings?: {
                code: string;
                message: string;
                block_id: string | null;
                count?: number;
              }[];
            };
          };
        };
      };
    };
  };
  listChanges: {
    parameters: {
      query?: {
        after?: string;
        limit?: number;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentChanges"];
            request_id: string;
          };
        };
      };
    };
  };
  getDocumentSet: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentSet"];
            request_id: string;
          };
        };
      };
    };
  };
  listTranslations: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentSet"];
            request_id: string;
          };
        };
      };
    };
  };
  addTranslation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TranslationCreateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["LocalizedDocument"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  activateTranslation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["LocalizationActivateInput"];
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["DocumentSet"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  deactivateTranslation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Document"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
              version: string;
            };
          };
        };
      };
    };
  };
  deleteTranslation: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        targetDocId: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  updateTranslation: {
    parameters: {
      header?: {
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        targetDocId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["TranslationUpdateInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["LocalizedDocument"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  listTranslationAudit: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationAuditRecord"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  listTranslationUnits: {
    parameters: {
      query?: {
        target_document_id?: string;
        locale?: string;
        status?: "ignored" | "current" | "missing" | "conflict" | "source_changed" | "manually_edited" | "machine_translated";
        limit?: number;
        cursor?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationUnit"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  reviewTranslationUnit: {
    parameters: {
      header: {
        "If-Match": components["parameters"]["RequiredIfMatch"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        unitId: string;
      };
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TranslationUnitReviewInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationUnit"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  prepareTranslation: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
        targetDocId: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["TranslationPrepareInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationPrepared"];
            request_id: string;
          };
        };
      };
    };
  };
  createTranslationJob: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["TranslationJobInput"];
      };
    };
    responses: {
      202: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationJob"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  getTranslationJob: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationJob"];
            request_id: string;
          };
        };
      };
    };
  };
  applyTranslationJob: {
    parameters: {
      header: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        "If-Match": components["parameters"]["RequiredIfMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["TranslationApplyInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TranslationApplied"];
            request_id: string;
          };
        };
      };
    };
  };
  listAttachments: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        knowledge_base_id?: number | string;
        document_id?: string;
        referenced?: boolean;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Attachment"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  createAttachment: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    requestBody: {
      content: {
        "multipart/form-data": {
          document_id: string;
          file: Blob;
        };
      };
    };
    responses: {
      201: {
        content: {
          "application/json": {
            data: components["schemas"]["Attachment"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string;
            };
          };
        };
      };
    };
  };
  getAttachment: {
    parameters: {
      header?: {
        "If-None-Match"?: components["parameters"]["IfNoneMatch"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/octet-stream": unknown;
        };
      };
    };
  };
  deleteAttachment: {
    parameters: {
      query?: {
        force?: boolean;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  getAttachmentMetadata: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Attachment"];
            request_id: string;
          };
        };
      };
    };
  };
  listTrash: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        knowledge_base_id?: number | string;
        q?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["TrashEntry"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
  restoreFromTrash: {
    parameters: {
      header?: {
        "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
        Prefer?: components["parameters"]["Prefer"];
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["RestoreInput"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["RestoredResource"];
            request_id: string;
          };
          "return=minimal": {
            data: {
              id: string | number;
              version?: string;
              not_restored: ("public_share" | "document_set" | "translation_units")[];
            };
          };
        };
      };
    };
  };
  purgeFromTrash: {
    parameters: {
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
      path: {
        id: string;
      };
    };
    responses: {
      204: {
      };
    };
  };
  listAudit: {
    parameters: {
      query?: {
        limit?: number;
        cursor?: string;
        user_id?: string;
        token_id?: string;
        document_id?: string;
        action?: string;
        after?: string;
        before?: string;
      };
      header?: {
        "X-Request-Id"?: components["parameters"]["RequestId"];
      };
    };
    responses: {
      200: {
        content: {
          "application/json": {
            data: components["schemas"]["Audit"][];
            page: components["schemas"]["Page"];
            request_id: string;
          };
        };
      };
    };
  };
}
