# A hundred files of llama.cpp, one for each architecture of models, are compiled in a few pieces: half of the time.
function(unite_models)
  set_target_properties(llama PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
  file(GLOB others ${CMAKE_SOURCE_DIR}/src/*.cpp)
  set_source_files_properties(${others} TARGET_DIRECTORY llama PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL unite_models)
