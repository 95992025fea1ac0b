// Generated from the OpenAPI description by test/import-client.test.ts.

export interface paths {
    "/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge-bases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createKnowledgeBase"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createFolder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/documents/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["replaceContent"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createAttachment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
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
        BlockAnchor: {
            block_id: string;
            lines: number[];
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
        BodyProblem: {
            path: string;
            reason: string;
            block_id?: string;
            operation_index?: number;
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
        InlineHunk: {
            op: "equal" | "insert" | "delete";
            text: string;
            marks?: components["schemas"]["TiptapMark"][];
            node?: components["schemas"]["TiptapNode"];
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
            collaboration_url: string;
        };
        MissingResource: {
            id: string | number | null;
            field?: string;
        };
        NameInput: {
            name: string;
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
        VersionConflict: {
            provided: string;
            current_version: string;
            current_hash?: string;
            field?: string;
            changed_block_ids?: string[];
            operation_index?: number;
            block_id?: string;
        };
        Warning: {
            code: string;
            message: string;
            block_id: string | null;
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
    responses: {
        Unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "missing_token" | "invalid_token" | "token_expired" | "token_revoked";
                    };
                };
            };
        };
        InsufficientScope: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "insufficient_scope";
                        details: {
                            required_scopes: string[];
                        };
                    };
                };
            };
        };
        PermissionDenied: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "insufficient_scope";
                        details: {
                            required_scopes: string[];
                        };
                    } | {
                        code?: "forbidden";
                        details: {
                            required_role: string;
                        };
                    };
                };
            };
        };
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "payload_too_large";
                        details: {
                            max_bytes: number;
                        };
                    };
                };
            };
        };
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "unsupported_media_type";
                        details: {
                            accepted: string[];
                        };
                    };
                };
            };
        };
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "rate_limited";
                        details: {
                            bucket: string;
                            retry_after: number;
                        };
                    };
                };
            };
        };
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "internal_error";
                    };
                };
            };
        };
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    error?: {
                        code?: "service_unavailable";
                    };
                };
            };
        };
    };
    parameters: {
        RequestId: string;
        IdempotencyKey: string;
        PreferBodyWritten: string;
        Prefer: string;
        IfMatch: string;
        RequiredIfMatch: string;
        IfNoneMatch: string;
        LastEventId: number;
    };
    requestBodies: never;
    headers: {
        RequestId: string;
        RateLimitLimit: number;
        RateLimitRemaining: number;
        RateLimitReset: number;
        ETag: string;
        Location: string;
        IdempotentReplayed: "true";
        PreferenceApplied: "return=minimal";
        DryRun: "true";
        RetryAfter: number;
        WwwAuthenticate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getMe: {
        parameters: {
            query?: never;
            header?: {
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Me"];
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKnowledgeBase: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                Prefer?: components["parameters"]["Prefer"];
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NameInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["KnowledgeBase"];
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        } | {
                            code?: "invalid_json" | "invalid_idempotency_key";
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "workspace_not_found";
                            details: components["schemas"]["MissingResource"];
                        };
                    };
                };
            };
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "idempotency_key_reused" | "idempotency_in_progress";
                        } | {
                            code?: "quota_exceeded";
                            details: {
                                quota: string;
                                limit: number;
                                used: number;
                            };
                        };
                    };
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createFolder: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                Prefer?: components["parameters"]["Prefer"];
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FolderCreateInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Folder"];
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        } | {
                            code?: "invalid_json" | "invalid_idempotency_key" | "folder_knowledge_base_mismatch";
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "knowledge_base_not_found" | "folder_not_found";
                            details: components["schemas"]["MissingResource"];
                        };
                    };
                };
            };
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "idempotency_key_reused" | "idempotency_in_progress";
                        } | {
                            code?: "quota_exceeded";
                            details: {
                                quota: string;
                                limit: number;
                                used: number;
                            };
                        };
                    };
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createDocument: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                Prefer?: components["parameters"]["Prefer"];
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DocumentCreateInput"];
            };
        };
        responses: {
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CreatedDocument"];
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        } | {
                            code?: "invalid_json" | "invalid_idempotency_key" | "folder_knowledge_base_mismatch";
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "knowledge_base_not_found" | "folder_not_found" | "workspace_not_found";
                            details: components["schemas"]["MissingResource"];
                        } | {
                            code?: "attachment_not_found";
                            details: components["schemas"]["MissingResource"] | components["schemas"]["BodyProblem"];
                        };
                    };
                };
            };
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "idempotency_key_reused" | "idempotency_in_progress";
                        } | {
                            code?: "document_id_conflict";
                            details: {
                                id: string;
                            };
                        } | {
                            code?: "quota_exceeded";
                            details: {
                                quota: string;
                                limit: number;
                                used: number;
                            };
                        };
                    };
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "attachment_not_found";
                            details: components["schemas"]["MissingResource"] | components["schemas"]["BodyProblem"];
                        } | {
                            code?: "invalid_node" | "invalid_block_id" | "duplicate_block_id";
                            details: components["schemas"]["BodyProblem"];
                        } | {
                            code?: "duplicate_block_anchor" | "invalid_markdown_anchor";
                            details: components["schemas"]["BlockAnchor"];
                        } | {
                            code?: "document_too_large";
                            details: {
                                limit: number;
                                actual: number;
                                unit: "characters" | "nodes" | "bytes";
                            };
                        };
                    };
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceContent: {
        parameters: {
            query?: {
                annotate?: "anchors";
                dry_run?: boolean;
            };
            header: {
                "If-Match": components["parameters"]["RequiredIfMatch"];
                Prefer?: components["parameters"]["PreferBodyWritten"];
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContentInput"];
                "application/vnd.svc.document+json": components["schemas"]["ContentInput"];
            };
        };
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    ETag: components["headers"]["ETag"];
                    "Dry-Run": components["headers"]["DryRun"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Content"] & {
                            diff?: components["schemas"]["DocumentDifference"];
                        };
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        } | {
                            code?: "invalid_json";
                        } | {
                            code?: "invalid_precondition";
                            details: {
                                header: string;
                            };
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "document_not_found";
                            details: components["schemas"]["MissingResource"];
                        } | {
                            code?: "attachment_not_found";
                            details: components["schemas"]["MissingResource"] | components["schemas"]["BodyProblem"];
                        };
                    };
                };
            };
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "version_conflict";
                            details: components["schemas"]["VersionConflict"];
                        };
                    };
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "attachment_not_found";
                            details: components["schemas"]["MissingResource"] | components["schemas"]["BodyProblem"];
                        } | {
                            code?: "invalid_node" | "invalid_block_id" | "duplicate_block_id";
                            details: components["schemas"]["BodyProblem"];
                        } | {
                            code?: "duplicate_block_anchor" | "invalid_markdown_anchor";
                            details: components["schemas"]["BlockAnchor"];
                        } | {
                            code?: "document_too_large";
                            details: {
                                limit: number;
                                actual: number;
                                unit: "characters" | "nodes" | "bytes";
                            };
                        };
                    };
                };
            };
            428: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "precondition_required";
                            details: {
                                missing: string[];
                            };
                        };
                    };
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAttachment: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                Prefer?: components["parameters"]["Prefer"];
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
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
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["IdempotentReplayed"];
                    "Preference-Applied": components["headers"]["PreferenceApplied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Attachment"];
                        request_id: string;
                    };
                };
            };
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "invalid_request";
                            details: components["schemas"]["InvalidFields"];
                        } | {
                            code?: "invalid_idempotency_key";
                        };
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["PermissionDenied"];
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "document_not_found";
                            details: components["schemas"]["MissingResource"];
                        };
                    };
                };
            };
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "idempotency_key_reused" | "idempotency_in_progress";
                        } | {
                            code?: "quota_exceeded";
                            details: {
                                quota: string;
                                limit: number;
                                used: number;
                            };
                        };
                    };
                };
            };
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"] & {
                        error?: {
                            code?: "attachment_too_large";
                            details: {
                                max_bytes: number;
                            };
                        };
                    };
                };
            };
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
