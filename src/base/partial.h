// Names of unfinished files and folders, and their removal once their writer is gone.
//
// Unfinished work on NAME is called ".NAME.partial-PID-N" in the same folder. Its writer holds a flock on it,
// which the kernel drops when the process dies in whatever way: what can be locked has been abandoned.
#pragma once
#include <filesystem>

#include "base/file_descriptor.h"

namespace onceover {

// A fresh name for unfinished work on `target`.
std::filesystem::path partial_path(const std::filesystem::path& target);

// Takes the writer's lock; false when somebody else holds it. True also on a file system without locks: there
// nothing is ever taken for abandoned.
bool lock_partial(int file_descriptor);

// The folder, locked as long as the result lives. Error when it cannot be opened, or another process has it:
// `doing` says what for, "training".
FileDescriptor lock_folder(const std::filesystem::path& folder, const char* doing);

// Removes what earlier, dead writers of `target` left. Failure to remove is not an error.
void remove_abandoned_partials(const std::filesystem::path& target);

// The folder that holds `target` ("." for a bare name).
std::filesystem::path folder_of(const std::filesystem::path& target);

// Makes a change of a folder's entries durable. Error on failure.
void sync_folder(const std::filesystem::path& folder);

}  // namespace onceover
