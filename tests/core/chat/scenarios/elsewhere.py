"""Which scenarios of the original's chats are shown in other places than this folder, or have no meaning here, and why.

The original's HTTP is our services and command line; its tests of checkpoints are those of the checkpoint engine.
"""

CHATS = "tests/app/test_chats.py"
EXPORT = "tests/app/test_export.py"
NAME = "tests/core/chat/test_export_name.py"
FAMILIES = "tests/core/services/test_families.py"
ARCHIVE = "tests/core/services/test_archive.py"
SERVICE = "tests/core/services/test_chats.py"
TURNS = "tests/core/services/test_turns.py"
RESTORE = "tests/core/checkpoint/scenarios/test_3_07_restore.py"
CALLERS = "tests/core/checkpoint/scenarios/test_3_10_callers.py"
DIFF = "tests/core/checkpoint/scenarios/test_3_06_diff.py"
CONFLICTS = "tests/core/checkpoint/scenarios/test_3_08_conflicts.py"
BLOBS = "tests/core/checkpoint/scenarios/test_3_04_blobs.py"
WRONG = "tests/app/test_wrong_input.py"

SHOWN: dict[int, tuple[str, str]] = {
    41: (CHATS, "test_a_row_counts_messages_and_holds_none"),
    42: (CHATS, "test_one_chat_is_shown_with_all_its_messages"),
    43: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    44: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    45: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    46: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    47: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    48: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    49: (SERVICE, "test_earlier_messages_come_by_index_and_number"),
    50: (CHATS, "test_what_is_no_chat_is_not_found"),
    51: (CHATS, "test_what_is_no_chat_is_not_found"),
    52: (CHATS, "test_a_verb_that_there_is_not_is_wrong_usage"),
    53: (CHATS, "test_what_is_no_chat_is_not_found"),
    54: (WRONG, "test_a_wrong_call_is_told_in_one_sentence_and_changes_nothing"),
    62: (SERVICE, "test_a_draft_that_cannot_be_kept_is_told"),
    64: (SERVICE, "test_a_draft_that_cannot_be_kept_is_told"),
    91: (ARCHIVE, "test_the_first_pass_is_at_once_and_the_next_when_one_is_due"),
    92: (FAMILIES, "test_a_branch_that_cannot_be_deleted_stays_as_a_chat_of_its_own"),
    93: (FAMILIES, "test_a_chat_goes_with_its_branches_the_deepest_first"),
    94: (FAMILIES, "test_a_promoted_branch_takes_its_parents_place"),
    95: (FAMILIES, "test_only_a_branch_can_be_promoted_discarded_or_merged"),
    96: (CALLERS, "test_137_the_first_capture_of_a_turn_stamps_its_prompt_once"),
    97: (TURNS, "test_the_first_capture_of_a_turn_is_stamped_on_its_prompt_once"),
    98: (TURNS, "test_the_first_capture_of_a_turn_is_stamped_on_its_prompt_once"),
    99: (CALLERS, "test_138_no_restore_during_a_running_turn_and_none_to_an_unknown_tag"),
    100: (RESTORE, "test_88_an_unknown_tag_is_refused_by_restore_preview_and_checkout"),
    101: (RESTORE, "test_85_the_agents_file_goes_back_and_the_users_stays"),
    102: (RESTORE, "test_86_a_file_that_was_made_later_is_deleted"),
    103: (RESTORE, "test_94_a_restore_that_was_done_leaves_nothing_open_and_says_its_count"),
    104: (RESTORE, "test_89_the_preview_lists_what_was_touched_at_the_tag_and_later"),
    105: (RESTORE, "test_90_a_link_planted_at_a_stage_name_leads_nowhere"),
    106: (RESTORE, "test_91_no_stage_is_left"),
    107: (RESTORE, "test_96_an_interrupted_restore_of_ours_is_finished_and_one_of_the_originals_is_not"),
    108: (DIFF, "test_77_an_unknown_tag_is_refused_by_its_name"),
    109: (EXPORT, "test_a_folder_gets_the_file_under_its_own_name"),
    110: (EXPORT, "test_without_a_format_it_is_markdown_on_standard_output"),
    111: (EXPORT, "test_another_format_is_wrong_usage"),
    112: (NAME, "test_without_a_name_and_an_id_the_file_is_called_chat"),
    113: (NAME, "test_a_name_can_always_be_a_file"),
    114: ("tests/ui/test_error_text.py", "test_every_error_of_the_core_has_its_own_words"),
    117: ("tests/ui/test_checkpoint_operations.py", "test_a_file_changed_since_is_put_back_only_after_a_yes"),
}

NO_MEANING = {
    36: "no row of the list has a tag: what a turn changed is in the timeline, read from the log",
    63: "a draft comes as text, from a program that is ours: there is no request to be malformed",
    71: "no agent of its own runs in an archived chat that had to be ended first: a running turn refuses archiving (FAMILIES)",
    115: "conflicts are read from the log each time; no client keeps a copy that could be older",
    116: "events are values of one process, made with all their fields",
}
